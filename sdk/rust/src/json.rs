//! Just enough JSON to look into an object, to change it and to write it again. The crate's own
//! interface hands texts through, so any other library does as well.
//!
//! Members keep the order in which they were read. A number is an `i64` where it is a whole one
//! that fits, else an `f64`.

use std::fmt;

/// How deep arrays and objects may stand in each other.
const MAX_DEPTH: usize = 200;

/// A value.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Json {
    /// `null`
    #[default]
    Null,
    /// `true`, `false`
    Bool(bool),
    /// `17`
    Int(i64),
    /// `1.5`
    Float(f64),
    /// `"text"`
    String(String),
    /// `[…]`
    Array(Vec<Json>),
    /// `{…}`; of two members of one name the last counts.
    Object(Vec<(String, Json)>),
}

/// A text that is no JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// Where, in bytes.
    pub at: usize,
    what: &'static str,
}

impl fmt::Display for JsonError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "not JSON at byte {}: {}", self.at, self.what)
    }
}

impl std::error::Error for JsonError {}

impl Json {
    /// Reads a document.
    pub fn parse(text: &str) -> Result<Json, JsonError> {
        let mut reader = Reader { text, at: 0 };
        let value = reader.value(0)?;
        reader.space();
        if reader.at < text.len() {
            return Err(reader.error("something stands behind the value"));
        }
        Ok(value)
    }

    /// An object without members.
    pub fn object() -> Json {
        Json::Object(Vec::new())
    }

    /// The value at a JSON pointer such as `/spec/podSets/0/count`; the empty one is the whole.
    pub fn at(&self, pointer: &str) -> Option<&Json> {
        if pointer.is_empty() {
            return Some(self);
        }
        pointer
            .strip_prefix('/')?
            .split('/')
            .try_fold(self, |value, part| match value {
                Json::Object(_) => value.member(&part.replace("~1", "/").replace("~0", "~")),
                Json::Array(items) => items.get(part.parse::<usize>().ok()?),
                _ => None,
            })
    }

    /// The text at a pointer.
    pub fn str_at(&self, pointer: &str) -> Option<&str> {
        match self.at(pointer)? {
            Json::String(text) => Some(text),
            _ => None,
        }
    }

    /// The whole number at a pointer.
    pub fn int_at(&self, pointer: &str) -> Option<i64> {
        match self.at(pointer)? {
            Json::Int(number) => Some(*number),
            _ => None,
        }
    }

    /// The truth value at a pointer.
    pub fn bool_at(&self, pointer: &str) -> Option<bool> {
        match self.at(pointer)? {
            Json::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The items of an array; none of what is none.
    pub fn items(&self) -> &[Json] {
        match self {
            Json::Array(items) => items,
            _ => &[],
        }
    }

    /// The members of an object; none of what is none.
    pub fn members(&self) -> &[(String, Json)] {
        match self {
            Json::Object(members) => members,
            _ => &[],
        }
    }

    /// A member of an object.
    pub fn member(&self, name: &str) -> Option<&Json> {
        self.members()
            .iter()
            .rev()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value)
    }

    /// Sets a member; what is no object becomes one.
    pub fn set(&mut self, name: &str, value: Json) {
        *self.entry(name) = value;
    }

    /// A member to be changed, made as `null` where it is absent; what is no object becomes one.
    pub fn entry(&mut self, name: &str) -> &mut Json {
        if !matches!(self, Json::Object(_)) {
            *self = Json::object();
        }
        let Json::Object(members) = self else {
            unreachable!("it was made one")
        };
        let place = members
            .iter()
            .rposition(|(key, _)| key == name)
            .unwrap_or_else(|| {
                members.push((name.to_owned(), Json::Null));
                members.len() - 1
            });
        &mut members[place].1
    }

    /// Takes a member out.
    pub fn remove(&mut self, name: &str) {
        if let Json::Object(members) = self {
            members.retain(|(key, _)| key != name);
        }
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::String(text.to_owned())
    }
}
impl From<String> for Json {
    fn from(text: String) -> Json {
        Json::String(text)
    }
}
impl From<i64> for Json {
    fn from(number: i64) -> Json {
        Json::Int(number)
    }
}
impl From<bool> for Json {
    fn from(value: bool) -> Json {
        Json::Bool(value)
    }
}

/// A text as JSON, with its quotes.
fn write_text(out: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    out.write_str("\"")?;
    for letter in text.chars() {
        match letter {
            '"' => out.write_str("\\\"")?,
            '\\' => out.write_str("\\\\")?,
            '\n' => out.write_str("\\n")?,
            letter if u32::from(letter) < 0x20 => write!(out, "\\u{:04x}", u32::from(letter))?,
            letter => write!(out, "{letter}")?,
        }
    }
    out.write_str("\"")
}

/// Compact JSON.
impl fmt::Display for Json {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => out.write_str("null"),
            Json::Bool(value) => write!(out, "{value}"),
            Json::Int(number) => write!(out, "{number}"),
            Json::Float(number) if number.is_finite() => write!(out, "{number:?}"),
            Json::Float(_) => out.write_str("null"),
            Json::String(text) => write_text(out, text),
            Json::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    write!(out, "{}{item}", if i == 0 { "[" } else { "," })?;
                }
                out.write_str(if items.is_empty() { "[]" } else { "]" })
            }
            Json::Object(members) => {
                for (i, (key, value)) in members.iter().enumerate() {
                    out.write_str(if i == 0 { "{" } else { "," })?;
                    write_text(out, key)?;
                    write!(out, ":{value}")?;
                }
                out.write_str(if members.is_empty() { "{}" } else { "}" })
            }
        }
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn error(&self, what: &'static str) -> JsonError {
        JsonError { at: self.at, what }
    }
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }
    /// Goes on behind the token if it stands here.
    fn takes(&mut self, token: &str) -> bool {
        let found = self.text.as_bytes()[self.at..].starts_with(token.as_bytes());
        self.at += if found { token.len() } else { 0 };
        found
    }

    fn value(&mut self, depth: usize) -> Result<Json, JsonError> {
        self.space();
        if depth > MAX_DEPTH {
            return Err(self.error("too deep"));
        }
        match self.peek() {
            Some(b'{') => self.members(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => Ok(Json::String(self.string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ if self.takes("null") => Ok(Json::Null),
            _ if self.takes("true") => Ok(Json::Bool(true)),
            _ if self.takes("false") => Ok(Json::Bool(false)),
            _ => Err(self.error("a value is expected")),
        }
    }

    fn members(&mut self, depth: usize) -> Result<Json, JsonError> {
        let mut members = Vec::new();
        self.at += 1;
        self.space();
        if self.takes("}") {
            return Ok(Json::Object(members));
        }
        loop {
            self.space();
            let key = self.string()?;
            self.space();
            if !self.takes(":") {
                return Err(self.error("\":\" is expected"));
            }
            members.push((key, self.value(depth + 1)?));
            self.space();
            if self.takes("}") {
                return Ok(Json::Object(members));
            }
            if !self.takes(",") {
                return Err(self.error("\",\" or \"}\" is expected"));
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Json, JsonError> {
        let mut items = Vec::new();
        self.at += 1;
        self.space();
        if self.takes("]") {
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.space();
            if self.takes("]") {
                return Ok(Json::Array(items));
            }
            if !self.takes(",") {
                return Err(self.error("\",\" or \"]\" is expected"));
            }
        }
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - start
    }

    fn number(&mut self) -> Result<Json, JsonError> {
        let start = self.at;
        self.takes("-");
        let whole = self.at;
        if self.digits() == 0 || (self.text.as_bytes()[whole] == b'0' && self.at - whole > 1) {
            return Err(self.error("a number is expected"));
        }
        let mut is_whole = true;
        if self.takes(".") {
            is_whole = false;
            if self.digits() == 0 {
                return Err(self.error("a digit is expected"));
            }
        }
        if self.takes("e") || self.takes("E") {
            is_whole = false;
            let _ = self.takes("+") || self.takes("-");
            if self.digits() == 0 {
                return Err(self.error("a digit is expected"));
            }
        }
        let text = &self.text[start..self.at];
        match text.parse::<i64>() {
            Ok(number) if is_whole => Ok(Json::Int(number)),
            _ => text
                .parse()
                .map(Json::Float)
                .map_err(|_| self.error("a number is expected")),
        }
    }

    fn string(&mut self) -> Result<String, JsonError> {
        if !self.takes("\"") {
            return Err(self.error("a text is expected"));
        }
        let mut text = String::new();
        loop {
            let rest = &self.text[self.at..];
            let plain = rest
                .find(|letter: char| matches!(letter, '"' | '\\') || u32::from(letter) < 0x20)
                .ok_or_else(|| self.error("the text does not end"))?;
            text.push_str(&rest[..plain]);
            self.at += plain;
            if self.takes("\"") {
                return Ok(text);
            }
            if !self.takes("\\") {
                return Err(self.error("a control character in a text"));
            }
            text.push(self.escape()?);
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        let letter = self
            .peek()
            .ok_or_else(|| self.error("the text does not end"))?;
        self.at += 1;
        Ok(match letter {
            b'"' | b'\\' | b'/' => char::from(letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let first = self.hex()?;
                let code = match first {
                    0xd800..=0xdbff if self.takes("\\u") => {
                        let second = self.hex()?;
                        if !(0xdc00..=0xdfff).contains(&second) {
                            return Err(self.error("half a pair"));
                        }
                        0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)
                    }
                    code => code,
                };
                char::from_u32(code).ok_or_else(|| self.error("half a pair"))?
            }
            _ => return Err(self.error("an unknown escape")),
        })
    }

    fn hex(&mut self) -> Result<u32, JsonError> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4);
        let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let text = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let code = text.and_then(|text| u32::from_str_radix(text, 16).ok());
        self.at += 4;
        code.ok_or(JsonError {
            at: self.at - 4,
            what: "four hexadecimal digits are expected",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_written() {
        for text in [
            r#"{"a":[1,-2,1.5,true,false,null,{}],"b":{"c":"x\"\\\n\u0001é"},"d":[]}"#,
            "9223372036854775807",
            "\"\"",
        ] {
            assert_eq!(Json::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(
            Json::parse(r#""\ud83d\ude00\u0041""#).unwrap(),
            Json::from("😀A")
        );
        assert_eq!(Json::parse(" 1e2 ").unwrap(), Json::Float(100.0));
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for text in [
            "",
            "no",
            "{",
            "[1,",
            "[1 2]",
            "{\"a\"}",
            "{\"a\":1,}",
            "\"x",
            "\"\\q\"",
            "\"\\ud800\"",
            "01",
            "-",
            "1.",
            "1e",
            "nul",
            "1 1",
            "\"\u{1}\"",
            "\"\\u12\"",
            "\"\\u12é\"",
        ] {
            assert!(Json::parse(text).is_err(), "{text}");
        }
        let deep = "[".repeat(100_000);
        assert_eq!(
            Json::parse(&deep).unwrap_err().to_string(),
            "not JSON at byte 201: too deep"
        );
    }

    #[test]
    fn pointers_lead_there() {
        let json = Json::parse(r#"{"a":{"b/c":[{"d":"x"}]},"n":1,"y":true}"#).unwrap();
        assert_eq!(json.str_at("/a/b~1c/0/d"), Some("x"));
        assert_eq!(
            (json.int_at("/n"), json.bool_at("/y")),
            (Some(1), Some(true))
        );
        assert_eq!((json.at("/a/b~1c/1"), json.at("a")), (None, None));
    }

    #[test]
    fn members_are_set_and_removed() {
        let mut json = Json::Null;
        json.entry("spec").set("count", 2.into());
        json.set("gone", true.into());
        json.remove("gone");
        assert_eq!(json.to_string(), r#"{"spec":{"count":2}}"#);
    }
}
