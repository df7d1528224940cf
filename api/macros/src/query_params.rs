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
}

/// Generates the `QueryParams` implementation of one struct.
pub fn expand(item: &DeriveInput) -> Result<TokenStream> {
    let Data::Struct(data) = &item.data else {
        return Err(Error::new_spanned(item, "QueryParams is derived for structs"));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new_spanned(item, "QueryParams needs named fields"));
    };
    let (mut reads, mut documents) = (Vec::new(), Vec::new());
    for field in &fields.named {
        let (read, document) = expand_field(field)?;
        reads.push(read);
        documents.push(document);
    }
    let ident = &item.ident;
    let check = struct_check(item)?;
    Ok(quote! {
        impl crate::params::QueryParams for #ident {
            fn read(query: &crate::params::QueryPairs) -> ::std::result::Result<Self, crate::error::ApiError> {
                let params = Self { #(#reads),* };
                #check
                Ok(params)
            }
            fn document(out: &mut ::std::vec::Vec<crate::params::ParameterDoc>) {
                #(#documents)*
            }
        }
    })
}

fn struct_check(item: &DeriveInput) -> Result<TokenStream> {
    let mut check = quote!();
    for attribute in item.attrs.iter().filter(|a| a.path().is_ident("params")) {
        attribute.parse_nested_meta(|meta| {
            let path: syn::Path = meta.value()?.parse()?;
            check = quote!(#path(&params)?;);
            Ok(())
        })?;
    }
    Ok(check)
}

fn expand_field(field: &Field) -> Result<(TokenStream, TokenStream)> {
    let ident = field.ident.as_ref().ok_or_else(|| Error::new_spanned(field, "a named field"))?;
    let ty = &field.ty;
    let attributes = attributes(field)?;
    if attributes.flatten {
        return Ok((
            quote!(#ident: <#ty as crate::params::QueryParams>::read(query)?),
            quote!(<#ty as crate::params::QueryParams>::document(out);),
        ));
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
    let default = attributes.default.map_or_else(|| quote!(None), |text| quote!(Some(#text)));
    Ok((
        quote!(#ident: #read),
        quote! {
            out.push(crate::params::ParameterDoc {
                name: #name, description: #description, example: #example, default: #default, required: #required,
                schema: <#value_type as crate::params::ParamValue>::schema,
            });
        },
    ))
}

fn attributes(field: &Field) -> Result<Attributes> {
    let mut out = Attributes::default();
    for attribute in field.attrs.iter().filter(|a| a.path().is_ident("param")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("flatten") {
                out.flatten = true;
                return Ok(());
            }
            let text = meta.value()?.parse::<LitStr>()?.value();
            match meta.path.get_ident().map(ToString::to_string).as_deref() {
                Some("name") => out.name = Some(text),
                Some("example") => out.example = Some(text),
                Some("default") => out.default = Some(text),
                _ => return Err(meta.error("name, example, default or flatten")),
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
