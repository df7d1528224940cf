//! Expansion of `#[derive(QueryParams)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Field, Fields, LitStr, Result, Type};

use crate::names::{camel_case, docs};

#[derive(Default)]
struct Attributes {
    name: Option<String>,
    example: Option<String>,
    default: Option<String>,
    flatten: bool,
    resolved: bool,
    shorthand: bool,
}

/// The code that one field adds to the methods of the struct.
struct Expanded {
    read: TokenStream,
    document: TokenStream,
    echo: TokenStream,
}

/// Generates the `QueryParams` implementation of one struct.
pub fn expand(item: &DeriveInput) -> Result<TokenStream> {
    let Data::Struct(data) = &item.data else {
        return Err(Error::new_spanned(item, "QueryParams is derived for structs"));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new_spanned(item, "QueryParams needs named fields"));
    };
    let fields = fields.named.iter().map(expand_field).collect::<Result<Vec<_>>>()?;
    let reads = fields.iter().map(|field| &field.read);
    let documents = fields.iter().map(|field| &field.document);
    let echoes = fields.iter().map(|field| &field.echo);
    let ident = &item.ident;
    let (check, question) = struct_attributes(item)?;
    Ok(quote! {
        impl crate::params::QueryParams for #ident {
            #question
            fn read(query: &crate::params::QueryPairs) -> ::std::result::Result<Self, crate::error::ApiError> {
                let params = Self { #(#reads),* };
                #check
                Ok(params)
            }
            fn document(out: &mut ::std::vec::Vec<crate::params::ParameterDoc>) {
                #(#documents)*
            }
            fn echo(&self, out: &mut ::std::vec::Vec<(&'static str, ::serde_json::Value)>) {
                #(#echoes)*
            }
        }
    })
}

/// Returns the call of `check`, and the constant of `question`.
fn struct_attributes(item: &DeriveInput) -> Result<(TokenStream, TokenStream)> {
    let (mut check, mut question) = (quote!(), quote!());
    for attribute in item.attrs.iter().filter(|a| a.path().is_ident("params")) {
        attribute.parse_nested_meta(|meta| {
            match meta.path.get_ident().map(ToString::to_string).as_deref() {
                Some("check") => {
                    let path: syn::Path = meta.value()?.parse()?;
                    check = quote!(#path(&params)?;);
                }
                Some("question") => {
                    let name: LitStr = meta.value()?.parse()?;
                    question = quote!(const QUESTION: ::std::option::Option<&'static str> = Some(#name););
                }
                _ => return Err(meta.error("check or question")),
            }
            Ok(())
        })?;
    }
    Ok((check, question))
}

fn expand_field(field: &Field) -> Result<Expanded> {
    let ident = field.ident.as_ref().ok_or_else(|| Error::new_spanned(field, "a named field"))?;
    let ty = &field.ty;
    let attributes = attributes(field)?;
    if attributes.flatten {
        return Ok(Expanded {
            read: quote!(#ident: <#ty as crate::params::QueryParams>::read(query)?),
            document: quote!(<#ty as crate::params::QueryParams>::document(out);),
            echo: quote!(<#ty as crate::params::QueryParams>::echo(&self.#ident, out);),
        });
    }
    let name = attributes.name.unwrap_or_else(|| camel_case(&ident.to_string()));
    let description = docs(&field.attrs);
    if description.is_empty() {
        return Err(Error::new_spanned(field, "a query parameter needs a doc comment"));
    }
    let Some(example) = attributes.example else {
        return Err(Error::new_spanned(field, "a query parameter needs #[param(example = \"…\")]"));
    };
    let (value_type, read, required) = match (optional_of(ty), &attributes.default) {
        (Some(inner), _) => (inner, quote!(query.optional::<#inner>(#name)?), false),
        (None, Some(default)) => (ty, quote!(query.or_default::<#ty>(#name, #default)?), false),
        (None, None) => (ty, quote!(query.required::<#ty>(#name)?), true),
    };
    let is_optional = optional_of(ty).is_some();
    let in_question = match (attributes.shorthand, is_optional && !attributes.resolved) {
        (true, _) => quote!(Never),
        (false, true) => quote!(IfGiven),
        (false, false) => quote!(Always),
    };
    let say = quote!(out.push((#name, crate::params::ParamValue::to_value(value))));
    let echo = match (attributes.shorthand, is_optional) {
        (true, _) => quote!(),
        (false, true) => quote!(if let Some(value) = &self.#ident { #say; }),
        (false, false) => quote!({ let value = &self.#ident; #say; }),
    };
    let default = attributes.default.map_or_else(|| quote!(None), |text| quote!(Some(#text)));
    let document = quote! {
        out.push(crate::params::ParameterDoc {
            name: #name, description: #description, example: #example, default: #default, required: #required,
            schema: <#value_type as crate::params::ParamValue>::schema,
            in_question: crate::params::InQuestion::#in_question,
        });
    };
    Ok(Expanded { read: quote!(#ident: #read), document, echo })
}

fn attributes(field: &Field) -> Result<Attributes> {
    let mut out = Attributes::default();
    for attribute in field.attrs.iter().filter(|a| a.path().is_ident("param")) {
        attribute.parse_nested_meta(|meta| {
            for (word, mark) in
                [("flatten", &mut out.flatten), ("resolved", &mut out.resolved), ("shorthand", &mut out.shorthand)]
            {
                if meta.path.is_ident(word) {
                    *mark = true;
                    return Ok(());
                }
            }
            let text = meta.value()?.parse::<LitStr>()?.value();
            match meta.path.get_ident().map(ToString::to_string).as_deref() {
                Some("name") => out.name = Some(text),
                Some("example") => out.example = Some(text),
                Some("default") => out.default = Some(text),
                _ => return Err(meta.error("name, example, default, flatten, resolved or shorthand")),
            }
            Ok(())
        })?;
    }
    Ok(out)
}

fn optional_of(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|s| s.ident == "Option")?;
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first() {
        Some(syn::GenericArgument::Type(inner)) => Some(inner),
        _ => None,
    }
}
