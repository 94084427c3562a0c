//! The part of JSON Schema (draft 2020-12) that the committed schemas use.
//!
//! A keyword that is not known here fails the test, so that none is passed over. In one respect
//! this is stricter than the standard: a member that no schema of its object names is a misfit, as
//! it would be undocumented.

use serde_json::{Map, Value};

/// Checks values against a schema.
pub(super) struct Fit<'s> {
    root: &'s Value,
}

/// What a schema says about an object.
type Members = Map<String, Value>;

impl<'s> Fit<'s> {
    /// For a whole schema with its definitions.
    pub(super) fn new(root: &'s Value) -> Self {
        Self { root }
    }

    /// Whether a value fits; otherwise where and why it does not.
    pub(super) fn check(&self, value: &Value) -> Result<(), String> {
        self.fits(self.root, value, "")
    }

    fn fits(&self, schema: &Value, value: &Value, place: &str) -> Result<(), String> {
        let keywords = match schema {
            Value::Bool(true) => return Ok(()),
            Value::Object(keywords) => keywords,
            _ => return Err(format!("{place}: nothing fits {schema}")),
        };
        for (keyword, content) in keywords {
            match keyword.as_str() {
                // Words for people, and what is looked up from elsewhere. `format` tells the width
                // of numbers.
                "$schema" | "$defs" | "title" | "description" | "format" | "default" => {}
                "type" => typed(content, value, place)?,
                "const" => same(std::slice::from_ref(content), value, place)?,
                "enum" => same(list(content), value, place)?,
                "minimum" => at_least(content, value, place)?,
                "maximum" => at_most(content, value, place)?,
                "$ref" => self.fits(self.definition(content), value, place)?,
                "anyOf" => self.some_of(list(content), value, place).map(drop)?,
                "oneOf" => self.one_of(list(content), value, place)?,
                "minItems" => counted(value, place, |count| count >= content.as_u64().expect("a number"))?,
                "maxItems" => counted(value, place, |count| count <= content.as_u64().expect("a number"))?,
                "prefixItems" => {
                    let elements = value.as_array().into_iter().flatten().zip(list(content)).enumerate();
                    for (index, (element, schema)) in elements {
                        self.fits(schema, element, &format!("{place}/{index}"))?;
                    }
                }
                "items" => self.elements(content, value, place)?,
                "required" => required(list(content), value, place)?,
                "properties" => self.members(content, keywords, value, place)?,
                "additionalProperties" if !keywords.contains_key("properties") => {
                    self.members(&Value::Object(Map::new()), keywords, value, place)?;
                }
                "additionalProperties" => {}
                other => panic!("the keyword `{other}` is not known to the tests: teach it to json_schema.rs"),
            }
        }
        Ok(())
    }

    fn definition(&self, reference: &Value) -> &'s Value {
        let name = reference.as_str().and_then(|text| text.strip_prefix("#/$defs/")).expect("a definition");
        self.root["$defs"].get(name).unwrap_or_else(|| panic!("`{name}` is not defined"))
    }

    /// Exactly one fits: words of an enumeration and kinds of documents do not overlap.
    /// How many of the alternatives a value fits, at least one.
    fn some_of(&self, schemas: &[Value], value: &Value, place: &str) -> Result<usize, String> {
        let misfits: Vec<String> = schemas.iter().filter_map(|schema| self.fits(schema, value, place).err()).collect();
        match schemas.len() - misfits.len() {
            0 => Err(misfits.join("; or ")),
            some => Ok(some),
        }
    }

    fn one_of(&self, schemas: &[Value], value: &Value, place: &str) -> Result<(), String> {
        match self.some_of(schemas, value, place)? {
            1 => Ok(()),
            several => Err(format!("{place}: fits {several} of the alternatives")),
        }
    }

    fn elements(&self, schema: &Value, value: &Value, place: &str) -> Result<(), String> {
        let mut elements = value.as_array().into_iter().flatten().enumerate();
        elements.try_for_each(|(index, element)| self.fits(schema, element, &format!("{place}/{index}")))
    }

    fn members(&self, properties: &Value, keywords: &Members, value: &Value, place: &str) -> Result<(), String> {
        for (name, member) in value.as_object().into_iter().flatten() {
            let schema = properties.get(name).or_else(|| keywords.get("additionalProperties"));
            let schema = schema.ok_or_else(|| format!("{place}: `{name}` is not documented"))?;
            self.fits(schema, member, &format!("{place}/{name}"))?;
        }
        Ok(())
    }
}

fn list(content: &Value) -> &[Value] {
    content.as_array().expect("a list")
}

fn typed(content: &Value, value: &Value, place: &str) -> Result<(), String> {
    let is = |name: &Value| match name.as_str().expect("the name of a type") {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        other => panic!("the type `{other}` is not known"),
    };
    let fits = if content.is_string() { is(content) } else { list(content).iter().any(is) };
    if fits { Ok(()) } else { Err(format!("{place}: {value} is not of type {content}")) }
}

fn same(allowed: &[Value], value: &Value, place: &str) -> Result<(), String> {
    if allowed.contains(value) { Ok(()) } else { Err(format!("{place}: {value} is none of {allowed:?}")) }
}

/// Whether a list has as many elements as it may.
fn counted(value: &Value, place: &str, may_be: impl Fn(u64) -> bool) -> Result<(), String> {
    let count = value.as_array().map(|elements| elements.len() as u64);
    if count.is_none_or(may_be) { Ok(()) } else { Err(format!("{place}: there are {count:?} elements")) }
}

fn at_least(bound: &Value, value: &Value, place: &str) -> Result<(), String> {
    let fits = value.as_f64().is_none_or(|number| number >= bound.as_f64().expect("a number"));
    if fits { Ok(()) } else { Err(format!("{place}: {value} is below {bound}")) }
}

fn at_most(bound: &Value, value: &Value, place: &str) -> Result<(), String> {
    let fits = value.as_f64().is_none_or(|number| number <= bound.as_f64().expect("a number"));
    if fits { Ok(()) } else { Err(format!("{place}: {value} is above {bound}")) }
}

fn required(names: &[Value], value: &Value, place: &str) -> Result<(), String> {
    let Some(object) = value.as_object() else { return Ok(()) };
    match names.iter().filter_map(Value::as_str).find(|name| !object.contains_key(*name)) {
        Some(missing) => Err(format!("{place}: `{missing}` is missing")),
        None => Ok(()),
    }
}

#[test]
fn misfits_are_found() {
    let schema = serde_json::json!({
        "type": "object",
        "properties": {
            "kind": { "const": "a" },
            "count": { "type": ["integer", "null"], "minimum": 0 },
            "words": { "type": "array", "items": { "$ref": "#/$defs/word" } },
            "more": { "type": "object", "additionalProperties": { "type": "string" } },
        },
        "required": ["kind"],
        "$defs": { "word": { "oneOf": [{ "const": "x" }, { "enum": ["y", "z"] }] } },
    });
    let fit = Fit::new(&schema);
    let check = |value: Value| fit.check(&value);
    assert_eq!(
        check(serde_json::json!({ "kind": "a", "count": 3, "words": ["x", "z"], "more": { "n": "m" } })),
        Ok(())
    );
    assert_eq!(check(serde_json::json!({ "kind": "a", "count": null })), Ok(()));
    for (misfit, why) in [
        (serde_json::json!({}), "`kind` is missing"),
        (serde_json::json!([]), "is not of type"),
        (serde_json::json!({ "kind": "b" }), "/kind: \"b\" is none of"),
        (serde_json::json!({ "kind": "a", "count": -1 }), "/count: -1 is below 0"),
        (serde_json::json!({ "kind": "a", "count": 1.5 }), "/count: 1.5 is not of type"),
        (serde_json::json!({ "kind": "a", "words": ["x", "w"] }), "/words/1: \"w\" is none of"),
        (serde_json::json!({ "kind": "a", "more": { "n": 1 } }), "/more/n: 1 is not of type"),
        (serde_json::json!({ "kind": "a", "extra": 1 }), "`extra` is not documented"),
    ] {
        let found = check(misfit).expect_err(why);
        assert!(found.contains(why), "{found}");
    }
}
