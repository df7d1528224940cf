//! `#[api_trait]`: one trait method declares an operation. `#[derive(QueryParams)]`: one struct declares query parameters.

mod api_trait;
mod names;
mod query_params;

use proc_macro::TokenStream;

/// Expands a trait of operations into the trait itself, a generic poem-openapi wrapper named by `routes`, an
/// implementation by `document::Refusing`, and a constant table `OPERATIONS` with every operation's method, path, access, idempotency, role and errors.
///
/// On the trait: `#[api_trait(tag = Tags, routes = TagsRoutes)]`.
///
/// On a method:
/// - `#[get("/api/tags")]`, `#[post(…)]`, `#[put(…)]`, `#[delete(…)]`: method and path;
/// - `#[idempotency(enforced)]` or `#[idempotency(ignored)]`: required on everything but `get`;
/// - `#[access(Public)]` or `#[access(ShareToken)]`: default is `SessionOrOauth`;
/// - `#[scope(SearchRead)]`, or `#[scope(none)]`: the scope that an access token needs; required where a token is taken;
/// - `#[id(Tag)]`: the record that `{id}` names; required where it is not a property;
/// - `#[plan(ShareLinks)]`: the feature that the plan must include, or `#[plan(tracking)]`: it must include tracked properties;
/// - `#[etag(Weak)]`: the kind of the answer's tag; default `Strong` on reads that take a token, else none;
/// - `#[paid]`: the answer may cost the caller money at a provider;
/// - `#[if_match]`: the write takes `If-Match`;
/// - `#[role(Editor)]`: the role that the operation needs on the property in its path; default `Viewer`;
/// - `#[errors(FilterTooComplex, …)]`: codes beyond those that follow from access, path and idempotency;
/// - `#[deprecated("2026-09-14", "getSuccessor")]`: the day since which another operation replaces it, and that operation.
///
/// No method gets a default body, so an implementation that leaves an operation out does not compile.
///
/// The operation id is the method's name in camelCase; the doc comment's first paragraph is the summary, the rest the
/// description. A `Path<…>` argument is named like its path parameter, a `Params<T>` argument documents `T`'s parameters.
#[proc_macro_attribute]
pub fn api_trait(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let arguments = syn::parse_macro_input!(arguments as api_trait::Arguments);
    let item = syn::parse_macro_input!(item as syn::ItemTrait);
    api_trait::expand(&arguments, item).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Reads a struct from the query string and documents its fields as query parameters.
///
/// A field's doc comment is the description. `#[param(example = "…")]` is required; `#[param(name = "…")]` overrides
/// the camelCase name; `#[param(default = "…")]` is the value of an absent parameter, as text; `#[param(flatten)]`
/// includes the fields of another such struct. `Option<T>` is optional without a default. On the struct,
/// `#[params(check = path)]` names a `fn(&Self) -> Result<(), ApiError>` for rules that span fields.
///
/// `#[params(question = "CountriesQuestion")]` on the struct says that the answer echoes the parameters in `meta.question`, and
/// names the schema. Every field stands there under its name, an optional one if it has a value. `#[param(resolved)]` marks an
/// optional one that the service always fills in; `#[param(shorthand)]` one that stands for others and is left out.
#[proc_macro_derive(QueryParams, attributes(param, params))]
pub fn query_params(item: TokenStream) -> TokenStream {
    let item = syn::parse_macro_input!(item as syn::DeriveInput);
    query_params::expand(&item).unwrap_or_else(syn::Error::into_compile_error).into()
}
