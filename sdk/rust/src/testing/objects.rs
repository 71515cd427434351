//! The objects of a fake host, in memory, by kind, namespace and name.
//!
//! It keeps the rules that a plugin meets most: uid and resourceVersion, conflicts, the status
//! apart from the rest, deletion of what is owned. It knows no schema, no defaults and no rights.
//! Of selectors it knows `a=b`, `a!=b` and `a`, separated by commas.

use crate::abi;
use crate::json::Json;
use std::collections::BTreeMap;

type Key = (String, String, String);
/// The object, or a code of svc/objects.h and a sentence.
pub(crate) type Reply = Result<String, (i32, String)>;

#[derive(Clone, Debug, Default)]
pub(crate) struct FakeObjects {
    objects: BTreeMap<Key, Json>,
    versions: i64,
}

fn key(kind: &str, namespace: &str, name: &str) -> Key {
    (kind.into(), namespace.into(), name.into())
}

fn key_of(object: &Json) -> Key {
    let text = |pointer| object.str_at(pointer).unwrap_or("");
    key(
        text("/kind"),
        text("/metadata/namespace"),
        text("/metadata/name"),
    )
}

fn called((kind, namespace, name): &Key) -> String {
    let place = if namespace.is_empty() {
        String::new()
    } else {
        format!("{namespace}/")
    };
    format!("{kind} {place}{name}")
}

fn merge(into: &mut Json, patch: &Json) {
    for (name, value) in patch.members() {
        match value {
            Json::Null => into.remove(name),
            Json::Object(_) => {
                if !matches!(into.member(name), Some(Json::Object(_))) {
                    into.set(name, Json::object());
                }
                merge(into.entry(name), value);
            }
            value => into.set(name, value.clone()),
        }
    }
}

/// `None`: a selector that it does not know.
fn matches(object: &Json, selector: &str) -> Option<bool> {
    for term in selector.split(',').filter(|term| !term.is_empty()) {
        if term.contains([' ', '(', ')']) {
            return None;
        }
        let (name, value, equal) = match (term.split_once("!="), term.split_once('=')) {
            (Some((name, value)), _) => (name, Some(value), false),
            (None, Some((name, value))) => (name, Some(value), true),
            (None, None) => (term, None, true),
        };
        let label = object
            .at("/metadata/labels")
            .and_then(|labels| labels.member(name));
        let same = match (label, value) {
            (Some(Json::String(label)), Some(value)) => label == value,
            (Some(_), None) => true,
            _ => false,
        };
        if same != equal {
            return Some(false);
        }
    }
    Some(true)
}

impl FakeObjects {
    /// Creates or replaces, as `kubectl apply` would.
    pub(crate) fn put(&mut self, mut object: Json) -> Json {
        let key = key_of(&object);
        self.versions += 1;
        let old = self
            .objects
            .get(&key)
            .and_then(|old| old.str_at("/metadata/uid"));
        let uid = object.str_at("/metadata/uid").or(old).map(str::to_owned);
        let metadata = object.entry("metadata");
        metadata.set(
            "uid",
            uid.unwrap_or_else(|| format!("uid-{}", self.versions))
                .into(),
        );
        metadata.set("resourceVersion", self.versions.to_string().into());
        self.objects.insert(key, object.clone());
        object
    }

    pub(crate) fn find(&self, kind: &str, namespace: &str, name: &str) -> Option<&Json> {
        self.objects.get(&key(kind, namespace, name))
    }

    pub(crate) fn get(&self, kind: &str, namespace: &str, name: &str) -> Reply {
        match self.find(kind, namespace, name) {
            Some(object) => Ok(object.to_string()),
            None => {
                let what = called(&key(kind, namespace, name));
                Err((abi::OBJECTS_NOT_FOUND, format!("{what} not found")))
            }
        }
    }

    pub(crate) fn list(&self, kind: &str, namespace: &str, selector: &str) -> Reply {
        let mut found = Vec::new();
        for ((of, place, _), object) in &self.objects {
            if of != kind || !(namespace.is_empty() || place == namespace) {
                continue;
            }
            match matches(object, selector) {
                Some(true) => found.push(object.clone()),
                Some(false) => {}
                None => {
                    let why = format!("the fake host does not know the selector \"{selector}\"");
                    return Err((abi::OBJECTS_INVALID, why));
                }
            }
        }
        Ok(Json::Array(found).to_string())
    }

    pub(crate) fn create(&mut self, text: &str) -> Reply {
        let mut object = parsed(text)?;
        if object.str_at("/apiVersion").is_none() || object.str_at("/kind").is_none() {
            return Err((
                abi::OBJECTS_INVALID,
                "the object names no apiVersion or no kind".into(),
            ));
        }
        if object.str_at("/metadata/name").is_none() {
            let Some(prefix) = object.str_at("/metadata/generateName").map(str::to_owned) else {
                return Err((abi::OBJECTS_INVALID, "metadata.name: Required value".into()));
            };
            object
                .entry("metadata")
                .set("name", format!("{prefix}{}", self.versions + 1).into());
        }
        let key = key_of(&object);
        if self.objects.contains_key(&key) {
            let why = format!("{} already exists", called(&key));
            return Err((abi::OBJECTS_ALREADY_EXISTS, why));
        }
        object.entry("metadata").remove("uid");
        Ok(self.put(object).to_string())
    }

    pub(crate) fn update(&mut self, text: &str, subresource: &str) -> Reply {
        let object = parsed(text)?;
        let (kind, namespace, name) = key_of(&object);
        self.get(&kind, &namespace, &name)?;
        self.store(object, subresource)
    }

    pub(crate) fn patch(
        &mut self,
        (kind, namespace, name): (&str, &str, &str),
        subresource: &str,
        patch: &str,
    ) -> Reply {
        self.get(kind, namespace, name)?;
        let mut object = self.objects[&key(kind, namespace, name)].clone();
        merge(&mut object, &parsed(patch)?);
        self.store(object, subresource)
    }

    /// REQUIRES: there is such an object.
    fn store(&mut self, object: Json, subresource: &str) -> Reply {
        let key = key_of(&object);
        let present = &self.objects[&key];
        let version = object.str_at("/metadata/resourceVersion");
        if version.is_some() && version != present.str_at("/metadata/resourceVersion") {
            let why = format!("{}: the object has been modified", called(&key));
            return Err((abi::OBJECTS_CONFLICT, why));
        }
        let whole = subresource != "status";
        let (mut next, other) = if whole {
            (object.clone(), present)
        } else {
            (present.clone(), &object)
        };
        match other.member("status") {
            Some(status) => next.set("status", status.clone()),
            None => next.remove("status"),
        }
        if next == *present {
            return Ok(next.to_string());
        }
        Ok(self.put(next).to_string())
    }

    /// With all that it owns. `uid`: only if it has this one; empty: whichever.
    pub(crate) fn remove(&mut self, kind: &str, namespace: &str, name: &str, uid: &str) -> Reply {
        self.get(kind, namespace, name)?;
        let key = key(kind, namespace, name);
        let own = self.objects[&key]
            .str_at("/metadata/uid")
            .unwrap_or("")
            .to_owned();
        if !uid.is_empty() && uid != own {
            return Err((
                abi::OBJECTS_CONFLICT,
                format!("{} has another uid", called(&key)),
            ));
        }
        self.objects.remove(&key);
        let owned = |object: &Json| {
            let owners = object
                .at("/metadata/ownerReferences")
                .map_or(&[][..], Json::items);
            owners
                .iter()
                .any(|owner| owner.str_at("/uid") == Some(&own))
        };
        let more: Vec<Key> = self
            .objects
            .iter()
            .filter(|(_, object)| owned(object))
            .map(|(key, _)| key.clone())
            .collect();
        for (kind, namespace, name) in more {
            let _ = self.remove(&kind, &namespace, &name, "");
        }
        Ok(String::new())
    }
}

fn parsed(text: &str) -> Result<Json, (i32, String)> {
    Json::parse(text).map_err(|error| (abi::OBJECTS_INVALID, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(objects: &mut FakeObjects, json: &str) -> Json {
        Json::parse(&objects.create(json).unwrap()).unwrap()
    }

    #[test]
    fn the_status_is_written_apart() {
        let mut objects = FakeObjects::default();
        made(
            &mut objects,
            r#"{"apiVersion":"v1","kind":"A","metadata":{"name":"a"},"spec":{}}"#,
        );
        let of = ("A", "", "a");
        objects
            .patch(of, "", r#"{"spec":{"x":1},"status":{"y":1}}"#)
            .unwrap();
        objects
            .patch(of, "status", r#"{"spec":{"x":2},"status":{"y":2}}"#)
            .unwrap();
        let found = objects.find("A", "", "a").unwrap();
        assert_eq!(
            (found.int_at("/spec/x"), found.int_at("/status/y")),
            (Some(1), Some(2))
        );
    }

    #[test]
    fn what_changed_meanwhile_is_a_conflict() {
        let mut objects = FakeObjects::default();
        let old = made(
            &mut objects,
            r#"{"apiVersion":"v1","kind":"A","metadata":{"name":"a"},"x":1}"#,
        );
        objects.patch(("A", "", "a"), "", r#"{"x":2}"#).unwrap();
        let (code, why) = objects.update(&old.to_string(), "").unwrap_err();
        assert_eq!(
            (code, why.as_str()),
            (3, "A a: the object has been modified")
        );
    }

    #[test]
    fn what_is_owned_goes_too_and_selectors_select() {
        let mut objects = FakeObjects::default();
        let owner = made(
            &mut objects,
            r#"{"apiVersion":"v1","kind":"A","metadata":{"name":"a"}}"#,
        );
        let uid = owner.str_at("/metadata/uid").unwrap();
        for (name, label) in [("b", "x"), ("c", "y")] {
            made(
                &mut objects,
                &format!(
                    r#"{{"apiVersion":"v1","kind":"B","metadata":{{"name":"{name}",
                    "labels":{{"l":"{label}"}},"ownerReferences":[{{"uid":"{uid}"}}]}}}}"#
                ),
            );
        }
        for (selector, count) in [("", 2), ("l=x", 1), ("l!=x", 1), ("l", 2), ("l=x,m", 0)] {
            let listed = Json::parse(&objects.list("B", "", selector).unwrap()).unwrap();
            assert_eq!(listed.items().len(), count, "{selector}");
        }
        assert_eq!(
            objects.list("B", "", "l in (x)").unwrap_err().0,
            abi::OBJECTS_INVALID
        );
        assert_eq!(
            objects.remove("A", "", "a", "other").unwrap_err().0,
            abi::OBJECTS_CONFLICT
        );
        objects.remove("A", "", "a", uid).unwrap();
        assert!(objects.find("B", "", "b").is_none());
    }
}
