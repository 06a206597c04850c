//! Lists the names that Rust files define: `FILE:LINE NAME`, one per line.
//!
//! The names are those of items, fields, variants, parameters and variables. In a macro call, whose
//! syntax is unknown, each identifier before a colon counts as a definition.

use std::env;
use std::error::Error;
use std::fs;
use std::io::{self, Write};

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::visit::{self, Visit};

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    for path in env::args().skip(1) {
        let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        let file = syn::parse_file(&text).map_err(|error| format!("{path}: {error}"))?;
        let mut names = Names::default();
        names.visit_file(&file);
        for ident in names.0 {
            writeln!(out, "{path}:{} {ident}", ident.span().start().line)?;
        }
    }
    Ok(())
}

/// Names that a file defines.
#[derive(Default)]
struct Names(Vec<Ident>);

impl Names {
    fn add(&mut self, ident: &Ident) {
        self.0.push(ident.clone());
    }

    fn add_from_macro(&mut self, tokens: TokenStream) {
        let mut last: Option<Ident> = None;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => last = Some(ident),
                TokenTree::Punct(punct) if punct.as_char() == ':' => {
                    self.0.extend(last.take());
                }
                TokenTree::Group(group) => {
                    last = None;
                    self.add_from_macro(group.stream());
                }
                _ => last = None,
            }
        }
    }
}

macro_rules! visit_definitions {
    ( $( $visit:ident: $node:ident; )+ ) => {
        $(
            fn $visit(&mut self, node: &'ast syn::$node) {
                self.add(&node.ident);
                visit::$visit(self, node);
            }
        )+
    };
}

impl<'ast> Visit<'ast> for Names {
    visit_definitions! {
        visit_item_const: ItemConst;
        visit_item_enum: ItemEnum;
        visit_item_mod: ItemMod;
        visit_item_static: ItemStatic;
        visit_item_struct: ItemStruct;
        visit_item_trait: ItemTrait;
        visit_item_type: ItemType;
        visit_item_union: ItemUnion;
        visit_impl_item_const: ImplItemConst;
        visit_impl_item_type: ImplItemType;
        visit_trait_item_const: TraitItemConst;
        visit_trait_item_type: TraitItemType;
        visit_pat_ident: PatIdent;
        visit_signature: Signature;
        visit_type_param: TypeParam;
        visit_variant: Variant;
    }

    fn visit_field(&mut self, node: &'ast syn::Field) {
        self.0.extend(node.ident.clone());
        visit::visit_field(self, node);
    }

    fn visit_item_macro(&mut self, node: &'ast syn::ItemMacro) {
        self.0.extend(node.ident.clone());
        visit::visit_item_macro(self, node);
    }

    fn visit_macro(&mut self, node: &'ast syn::Macro) {
        self.add_from_macro(node.tokens.clone());
    }

    fn visit_use_rename(&mut self, node: &'ast syn::UseRename) {
        self.add(&node.rename);
    }
}
