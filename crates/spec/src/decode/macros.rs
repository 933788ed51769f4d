//! One declaration gives the type, its decoder and its schema, so that the three cannot drift apart.

/// Declares a mapping with known keys.
///
/// `"key" => field: Type,` and, for a value that has a default, `"key" => field: Type = default,`.
macro_rules! record {
    ($(#[doc = $about:literal])+ $what:literal pub struct $name:ident { $($(#[doc = $field_about:literal])+ $key:literal => $field:ident: $type:ty $(= $default:expr)?,)* }) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $($(#[doc = $field_about])+ pub $field: $type,)*
        }

        impl $crate::decode::Decode for $name {
            fn decode(node: &bringup_yaml::Node, reader: &mut $crate::decode::Reader) -> Option<Self> {
                let entries = reader.entries(node, $what, &[$($key),*])?;
                $(let $field = $crate::decode::record!(@field reader, node, entries, $key, $what, $type $(, $default)?);)*
                Some(Self { $($field: $field?,)* })
            }

            fn schema(schemas: &mut $crate::decode::Schemas) -> serde_json::Value {
                schemas.named(stringify!($name), |schemas| {
                    let mut properties = serde_json::Map::new();
                    #[allow(unused_mut, reason = "a record may have no mandatory key")]
                    let mut required: Vec<&str> = Vec::new();
                    $({
                        let mut schema = <$type as $crate::decode::Decode>::schema(schemas);
                        if let Some(schema) = schema.as_object_mut() {
                            schema.insert("description".to_owned(), concat!($($field_about, "\n"),+).trim().into());
                            if <$type as $crate::decode::Decode>::needs_letters()
                                && $crate::decode::must_say_something($key)
                            {
                                schema.insert("minLength".to_owned(), 1.into());
                            }
                        }
                        $crate::decode::record!(@required required, schema, $key, $type $(, $default)?);
                        properties.insert($key.to_owned(), schema);
                    })*
                    serde_json::json!({
                        "type": "object",
                        "description": concat!($($about, "\n"),+).trim(),
                        "additionalProperties": false,
                        "properties": properties,
                        "required": required,
                    })
                })
            }
        }
    };
    (@field $reader:ident, $node:ident, $entries:ident, $key:literal, $what:literal, $type:ty) => {
        $reader.field::<$type>($node, $entries, $key, $what)
    };
    (@field $reader:ident, $node:ident, $entries:ident, $key:literal, $what:literal, $type:ty, $default:expr) => {
        if $entries.iter().any(|entry| entry.key == $key) { $reader.field::<$type>($node, $entries, $key, $what) } else { Some($default) }
    };
    (@required $required:ident, $schema:ident, $key:literal, $type:ty) => {
        if <$type as $crate::decode::Decode>::absent().is_none() {
            $required.push($key);
        }
    };
    (@required $required:ident, $schema:ident, $key:literal, $type:ty, $default:expr) => {
        let default: $type = $default;
        if let (Some(schema), Some(default)) = ($schema.as_object_mut(), $crate::decode::Decode::written(&default)) {
            schema.insert("default".to_owned(), default);
        }
    };
}

/// Declares a choice between words.
macro_rules! choices {
    ($(#[doc = $about:literal])+ $what:literal pub enum $name:ident { $($(#[doc = $word_about:literal])+ $variant:ident = $word:literal,)* }) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[doc = $word_about])+ #[serde(rename = $word)] $variant,)*
        }

        impl $name {
            /// Every choice, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The word that a document uses.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.word())
            }
        }

        impl $crate::decode::Decode for $name {
            fn decode(node: &bringup_yaml::Node, reader: &mut $crate::decode::Reader) -> Option<Self> {
                const WORDS: &[&str] = &[$($word),*];
                $crate::decode::chosen(node, reader, $what, WORDS)
                    .and_then(|index| Self::ALL.get(index).copied())
            }

            fn written(&self) -> Option<serde_json::Value> {
                Some(self.word().into())
            }

            fn schema(schemas: &mut $crate::decode::Schemas) -> serde_json::Value {
                schemas.named(stringify!($name), |_| serde_json::json!({
                    "description": concat!($($about, "\n"),+).trim(),
                    "enum": [$($word),*],
                }))
            }
        }
    };
}

pub(crate) use {choices, record};
