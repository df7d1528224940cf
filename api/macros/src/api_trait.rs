//! Expansion of `#[api_trait]`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{
    Attribute, Error, FnArg, Ident, ItemTrait, LitStr, Pat, Result, ReturnType, Token, TraitItem, TraitItemFn, Type,
    parse::{Parse, ParseStream},
    punctuated::Punctuated,
};

use crate::names::{camel_case, docs};

/// Arguments of the attribute: `tag = Tags, routes = TagsRoutes`.
pub struct Arguments {
    tag: Ident,
    routes: Ident,
}

impl Parse for Arguments {
    fn parse(input: ParseStream) -> Result<Self> {
        let pair = |expected: &str| {
            let key: Ident = input.parse()?;
            if key != expected {
                return Err(Error::new_spanned(key, format!("expected `{expected} = …`")));
            }
            input.parse::<Token![=]>()?;
            let value = input.parse::<Ident>()?;
            let _ = input.parse::<Option<Token![,]>>()?;
            Ok(value)
        };
        Ok(Self { tag: pair("tag")?, routes: pair("routes")? })
    }
}

/// One operation, as the attributes of its method declare it.
struct Operation {
    verb: String,
    path: String,
    access: Ident,
    scope: Option<Ident>,
    idempotency: Option<Ident>,
    role: Ident,
    plan: Option<Ident>,
    etag: Option<Ident>,
    id: Option<Ident>,
    errors: Vec<Ident>,
    paid: bool,
    if_match: bool,
    deprecated: Option<Deprecated>,
}

/// Arguments of `#[deprecated("2026-09-14", "getSuccessor")]`: the day and the operation to use instead.
struct Deprecated {
    since: LitStr,
    successor: LitStr,
}

impl Parse for Deprecated {
    fn parse(input: ParseStream) -> Result<Self> {
        let since = input.parse()?;
        input.parse::<Token![,]>()?;
        Ok(Self { since, successor: input.parse()? })
    }
}

/// One argument of an operation, without `&self`.
struct Argument {
    name: Ident,
    ty: Box<Type>,
}

/// Expands the trait into the trait itself, its wrapper, its implementation by `Refusing` and its table of operations.
pub fn expand(arguments: &Arguments, mut item: ItemTrait) -> Result<TokenStream> {
    let (mut wrappers, mut refusals, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for member in &mut item.items {
        let TraitItem::Fn(method) = member else { continue };
        let operation = read_attributes(method)?;
        let method_arguments = arguments_of(method)?;
        wrappers.push(wrapper(arguments, method, &operation, &method_arguments)?);
        rows.push(row(arguments, method, &operation, &method_arguments));
        refusals.push(refusal(method));
        finish_signature(method)?;
    }
    let (name, routes) = (&item.ident, &arguments.routes);
    let doc = format!("Routes of [`{name}`], for any implementation.");
    Ok(quote! {
        #item

        #[doc = #doc]
        pub struct #routes<T>(pub ::std::sync::Arc<T>);

        #[poem_openapi::OpenApi]
        impl<T: #name> #routes<T> {
            #(#wrappers)*
        }

        impl #name for crate::document::Refusing {
            #(#refusals)*
        }

        /// The operations that this trait declares.
        pub const OPERATIONS: &[crate::operation::Operation] = &[#(#rows),*];
    })
}

fn read_attributes(method: &mut TraitItemFn) -> Result<Operation> {
    let mut found = Operation {
        verb: String::new(),
        path: String::new(),
        access: format_ident!("SessionOrOauth"),
        scope: None,
        idempotency: None,
        role: format_ident!("Viewer"),
        plan: None,
        etag: None,
        id: None,
        errors: Vec::new(),
        paid: false,
        if_match: false,
        deprecated: None,
    };
    let mut kept = Vec::new();
    for attribute in std::mem::take(&mut method.attrs) {
        if !read_attribute(&attribute, &mut found)? {
            kept.push(attribute);
        }
    }
    method.attrs = kept;
    if found.verb.is_empty() {
        return Err(Error::new_spanned(&method.sig, "an operation needs #[get(\"/…\")], post, put or delete"));
    }
    if (found.verb == "get") == found.idempotency.is_some() {
        return Err(Error::new_spanned(&method.sig, "#[idempotency(…)] is needed on every operation but get"));
    }
    if (found.access == "SessionOrOauth") != found.scope.is_some() {
        return Err(Error::new_spanned(&method.sig, "#[scope(…)] is needed on every operation that takes a token"));
    }
    if found.path.contains("{id}") && !found.path.starts_with("/api/properties/{id}") && found.id.is_none() {
        return Err(Error::new_spanned(&method.sig, "#[id(…)] names the record of `{id}` where it is not a property"));
    }
    if found.if_match && !matches!(found.verb.as_str(), "put" | "delete") {
        return Err(Error::new_spanned(&method.sig, "#[if_match] is for put and delete only"));
    }
    if found.verb != "get" && found.paid {
        return Err(Error::new_spanned(&method.sig, "#[paid] is for get only"));
    }
    if found.verb != "get"
        && let Some(etag) = &found.etag
    {
        return Err(Error::new_spanned(etag, "#[etag(…)] is for get only"));
    }
    Ok(found)
}

/// Reads one attribute into `found`. Returns `false` for an attribute of another macro, which stays on the method.
fn read_attribute(attribute: &Attribute, found: &mut Operation) -> Result<bool> {
    let Some(name) = attribute.path().get_ident().map(ToString::to_string) else { return Ok(false) };
    match name.as_str() {
        "get" | "post" | "put" | "delete" => {
            found.verb = name;
            found.path = attribute.parse_args::<LitStr>()?.value();
        }
        "access" => found.access = attribute.parse_args()?,
        "scope" => found.scope = Some(attribute.parse_args()?),
        "idempotency" => {
            let mark: Ident = attribute.parse_args()?;
            if mark != "enforced" && mark != "ignored" {
                return Err(Error::new_spanned(mark, "enforced or ignored"));
            }
            found.idempotency = Some(format_ident!("{}", if mark == "enforced" { "Enforced" } else { "Ignored" }));
        }
        "role" => found.role = attribute.parse_args()?,
        "plan" => found.plan = Some(attribute.parse_args()?),
        "etag" => found.etag = Some(attribute.parse_args()?),
        "id" => found.id = Some(attribute.parse_args()?),
        "errors" => {
            let codes = attribute.parse_args_with(Punctuated::<Ident, Token![,]>::parse_terminated)?;
            found.errors.extend(codes);
        }
        "paid" => found.paid = true,
        "if_match" => found.if_match = true,
        "deprecated" => found.deprecated = Some(attribute.parse_args()?),
        _ => return Ok(false),
    }
    Ok(true)
}

fn arguments_of(method: &TraitItemFn) -> Result<Vec<Argument>> {
    method
        .sig
        .inputs
        .iter()
        .skip(1)
        .map(|input| match input {
            FnArg::Typed(typed) => match &*typed.pat {
                Pat::Ident(pat) => Ok(Argument { name: pat.ident.clone(), ty: typed.ty.clone() }),
                other => Err(Error::new_spanned(other, "an argument is a plain name")),
            },
            FnArg::Receiver(receiver) => Err(Error::new_spanned(receiver, "`&self` comes first")),
        })
        .collect()
}

fn wrapper(all: &Arguments, method: &TraitItemFn, op: &Operation, arguments: &[Argument]) -> Result<TokenStream> {
    let (name, tag, verb) = (&method.sig.ident, &all.tag, &op.verb);
    let id = camel_case(&name.to_string());
    let path = op.path.replace('{', ":").replace('}', "");
    let ReturnType::Type(_, output) = &method.sig.output else {
        return Err(Error::new_spanned(&method.sig, "an operation returns Result<…, ApiError>"));
    };
    let docs: Vec<_> = method.attrs.iter().filter(|a| a.path().is_ident("doc")).collect();
    let deprecated = op.deprecated.as_ref().map(|_| quote!(, deprecated = true));
    let unnamed = unnamed_parameters(op, arguments)?;
    let inputs = arguments.iter().map(|Argument { name, ty }| {
        let wire = camel_case(&name.to_string());
        let renamed = is_path(ty).then(|| quote!(#[oai(name = #wire)]));
        quote!(#renamed #name: #ty)
    });
    let names = arguments.iter().map(|a| &a.name);
    let tag = format!("crate::Tag::{tag}");
    Ok(quote! {
        #(#docs)*
        #[oai(path = #path, method = #verb, operation_id = #id, tag = #tag #deprecated)]
        async fn #name(&self, #(#unnamed,)* #(#inputs),*) -> #output {
            self.0.#name(#(#names),*).await
        }
    })
}

/// Arguments for path parameters that precede those of the method, such as the property's id. poem-openapi assigns
/// `Path` arguments to path parameters by position, not by name.
fn unnamed_parameters(op: &Operation, arguments: &[Argument]) -> Result<Vec<TokenStream>> {
    let taken: Vec<_> = arguments.iter().filter(|a| is_path(&a.ty)).collect();
    let wire: Vec<String> =
        op.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).map(Into::into).collect();
    let unnamed = wire.len().saturating_sub(taken.len());
    if let Some((argument, _)) = taken
        .iter()
        .zip(wire.iter().skip(unnamed).map(Some).chain(std::iter::repeat(None)))
        .find(|(a, name)| Some(&camel_case(&a.name.to_string())) != *name)
    {
        return Err(Error::new_spanned(&argument.name, "the last parameters of the path, in their order"));
    }
    let unnamed = if taken.is_empty() { 0 } else { unnamed };
    let ignored = wire.iter().take(unnamed).enumerate().map(|(index, wire)| {
        let name = quote::format_ident!("_unnamed{index}");
        quote!(#[oai(name = #wire)] #name: poem_openapi::param::Path<String>)
    });
    Ok(ignored.collect())
}

/// The parameters of the path. `{id}` is named by its record.
fn path_parameters(op: &Operation) -> Vec<TokenStream> {
    let names = op.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let variant = |name: &str| match (name, &op.id) {
        ("id", Some(record)) => format_ident!("{record}Id"),
        ("id", None) => format_ident!("PropertyId"),
        _ => format_ident!("{}{}", name[..1].to_uppercase(), &name[1..]),
    };
    names.map(variant).map(|variant| quote!(crate::operation::PathParameter::#variant)).collect()
}

fn is_path(ty: &Type) -> bool {
    last_segment(ty).is_some_and(|segment| segment == "Path")
}

fn row(all: &Arguments, method: &TraitItemFn, op: &Operation, arguments: &[Argument]) -> TokenStream {
    let id = camel_case(&method.sig.ident.to_string());
    let (tag, access, path, role, errors) = (&all.tag, &op.access, &op.path, &op.role, &op.errors);
    let verb = format_ident!("{}", op.verb.to_uppercase());
    let scope = match &op.scope {
        Some(scope) if scope != "none" => quote!(Some(crate::scope::Scope::#scope)),
        _ => quote!(None),
    };
    let idempotency =
        op.idempotency.as_ref().map_or_else(|| quote!(None), |mark| quote!(Some(crate::operation::Idempotency::#mark)));
    let structs = || arguments.iter().map(|a| &a.ty).filter(|ty| last_segment(ty).is_some_and(|s| s == "Params"));
    let params = structs().map(|ty| quote!(<#ty as crate::params::Documented>::document));
    let question =
        structs().next().map_or_else(|| quote!(None), |ty| quote!(<#ty as crate::params::Documented>::QUESTION));
    let summary = docs(&method.attrs);
    let plan = match &op.plan {
        None => quote!(None),
        Some(plan) if plan == "tracking" => quote!(Some(crate::operation::PlanPart::Tracking)),
        Some(feature) => quote!(Some(crate::operation::PlanPart::Feature(crate::models::Feature::#feature))),
    };
    let (etag, paid, if_match) = (etag_of(op), op.paid, op.if_match);
    let takes_body = arguments.iter().any(|a| last_segment(&a.ty).is_some_and(|s| s == "Body"));
    let refused = op.if_match.then(|| quote!(crate::error::Code::PreconditionFailed));
    let in_path = path_parameters(op);
    let deprecated = op.deprecated.as_ref().map_or_else(
        || quote!(None),
        |Deprecated { since, successor }| {
            quote!(Some(crate::operation::Deprecated { since: #since, successor: #successor }))
        },
    );
    quote! {
        crate::operation::Operation {
            id: #id, method: poem::http::Method::#verb, path: #path, tag: crate::Tag::#tag,
            access: crate::operation::Access::#access, scope: #scope, idempotency: #idempotency, role: crate::models::Role::#role,
            plan: #plan, etag: #etag, is_paid: #paid, deprecated: #deprecated,
            errors: &[#(crate::error::Code::#errors,)* #refused], path_parameters: &[#(#in_path),*], takes_if_match: #if_match, takes_body: #takes_body, params: &[#(#params),*], question: #question,
            docs: #summary,
        }
    }
}

/// `EtagKind` of the operation. Reads default to a strong tag; writes and public reads have none.
fn etag_of(op: &Operation) -> TokenStream {
    let public = op.access == "Public";
    match &op.etag {
        Some(kind) => quote!(crate::operation::EtagKind::#kind),
        None if op.verb == "get" && !public => quote!(crate::operation::EtagKind::Strong),
        None => quote!(crate::operation::EtagKind::None),
    }
}

/// The method of `Refusing`, which ignores its arguments.
fn refusal(method: &TraitItemFn) -> TokenStream {
    let (name, output) = (&method.sig.ident, &method.sig.output);
    let ignored = method.sig.inputs.iter().skip(1).filter_map(|input| match input {
        FnArg::Typed(typed) => Some(&typed.ty),
        FnArg::Receiver(_) => None,
    });
    quote! {
        async fn #name(&self, #(_: #ignored),*) #output {
            Err(self.0.clone())
        }
    }
}

/// Makes the method's future `Send`, which the router needs and `async fn` in a public trait does not promise.
fn finish_signature(method: &mut TraitItemFn) -> Result<()> {
    if method.sig.asyncness.take().is_none() {
        return Err(Error::new_spanned(&method.sig, "an operation is an async fn"));
    }
    let ReturnType::Type(_, output) = &method.sig.output else { return Ok(()) };
    let future = syn::parse_quote!(-> impl ::std::future::Future<Output = #output> + Send);
    method.sig.output = future;
    Ok(())
}

fn last_segment(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(path) => path.path.segments.last().map(|s| s.ident.to_string()),
        _ => None,
    }
}
