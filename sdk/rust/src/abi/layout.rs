//! How the structs are written down, so that each of them is also in a list that a test compares
//! with the headers: a struct cannot be added without being compared.

/// A struct as Rust lays it out.
pub struct Layout {
    /// Its name in C.
    pub c: &'static str,
    /// In bytes.
    pub size: usize,
    /// Its members, in order.
    pub fields: &'static [Field],
}

/// A member of a struct.
pub struct Field {
    /// The same in C and in Rust.
    pub name: &'static str,
    /// From the start of the struct, in bytes.
    pub offset: usize,
    /// In bytes.
    pub size: usize,
}

/// A pointer to a function, which may be NULL: `c_fn!(argument types; answer)`.
macro_rules! c_fn {
    ($($argument:ty),* $(; $answer:ty)?) => {
        Option<unsafe extern "C" fn($($argument),*) $(-> $answer)?>
    };
}

/// `NAME_IN_C NameInRust { member: type, … }`.
macro_rules! c_structs {
    ($list:ident; $(
        $(#[$doc:meta])* $c:ident $rust:ident { $($field:ident: $type:ty),* $(,)? }
    )*) => {
        $($(#[$doc])*
        #[allow(missing_docs)]
        #[repr(C)]
        #[derive(Clone, Copy)]
        pub struct $rust {
            $(pub $field: $type,)*
        })*
        pub(crate) const $list: &[$crate::abi::Layout] = &[$($crate::abi::Layout {
            c: concat!(stringify!($c), "_t"),
            size: core::mem::size_of::<$rust>(),
            fields: &[$($crate::abi::Field {
                name: stringify!($field),
                offset: core::mem::offset_of!($rust, $field),
                size: core::mem::size_of::<$type>(),
            }),*],
        }),*];
    };
}

/// `NAME_IN_C NAME_IN_RUST: type = value`.
macro_rules! c_numbers {
    ($list:ident; $($c:ident $rust:ident: $type:ty = $value:expr),* $(,)?) => {
        $(#[allow(missing_docs)] pub const $rust: $type = $value;)*
        pub(crate) const $list: &[(&str, i64)] = &[$((stringify!($c), $rust as i64)),*];
    };
}

/// `NAME_IN_C NAME_IN_RUST = "id"`.
macro_rules! c_ids {
    ($list:ident; $($c:ident $rust:ident = $value:literal),* $(,)?) => {
        $(#[allow(missing_docs)] pub const $rust: &str = $value;)*
        pub(crate) const $list: &[(&str, &str)] = &[$((stringify!($c), $rust)),*];
    };
}
