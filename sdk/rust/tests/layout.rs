//! `sluice_plugin::abi` against the C headers: a C compiler says how large each struct is, where
//! each member lies, and what each number and id is. A header that changed fails here.

use sluice_plugin::abi::{IDS, LAYOUTS, NUMBERS};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the headers are, in the source tree or in an SDK that was installed.
fn include() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in ["../include", "../../../include"] {
        if here.join(folder).join("sluice/abi.h").exists() {
            return here.join(folder);
        }
    }
    panic!("no sluice/abi.h beside {}", here.display());
}

/// A C program that prints what `expected` holds.
fn program() -> String {
    let mut text =
        String::from("#include <sluice/sluice.h>\n#include <stdio.h>\nint main(void) {\n");
    for layout in LAYOUTS.iter().copied().flatten() {
        let c = layout.c;
        writeln!(text, r#"  printf("{c} %zu\n", sizeof({c}));"#).unwrap();
        for field in layout.fields {
            let name = field.name;
            writeln!(
                text,
                r#"  printf("{c}.{name} %zu %zu\n", offsetof({c}, {name}),
         sizeof((({c}*)0)->{name}));"#
            )
            .unwrap();
        }
    }
    for (name, _) in NUMBERS.iter().copied().flatten() {
        writeln!(text, r#"  printf("{name} %lld\n", (long long)({name}));"#).unwrap();
    }
    for (name, _) in IDS.iter().copied().flatten() {
        writeln!(text, r#"  printf("{name} %s\n", {name});"#).unwrap();
    }
    text + "  return 0;\n}\n"
}

fn expected() -> Vec<String> {
    let mut lines = Vec::new();
    for layout in LAYOUTS.iter().copied().flatten() {
        lines.push(format!("{} {}", layout.c, layout.size));
        for field in layout.fields {
            lines.push(format!(
                "{}.{} {} {}",
                layout.c, field.name, field.offset, field.size
            ));
        }
    }
    lines.extend(
        NUMBERS
            .iter()
            .copied()
            .flatten()
            .map(|(name, value)| format!("{name} {value}")),
    );
    lines.extend(
        IDS.iter()
            .copied()
            .flatten()
            .map(|(name, value)| format!("{name} {value}")),
    );
    lines
}

#[test]
fn structs_and_numbers_are_those_of_the_headers() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, binary) = (folder.join("layout.c"), folder.join("layout"));
    std::fs::write(&source, program()).unwrap();
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let done = Command::new(&compiler)
        .args(["-std=c11", "-Wall", "-Werror", "-I"])
        .arg(include())
        .arg(&source)
        .arg("-o")
        .arg(&binary)
        .output()
        .unwrap_or_else(|error| panic!("{compiler}: {error}"));
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    let said = Command::new(&binary).output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    let expected = expected();
    assert!(
        expected.len() > 300,
        "only {} lines to compare",
        expected.len()
    );
    let differing: Vec<_> = said
        .lines()
        .zip(&expected)
        .filter(|(c, rust)| c != rust)
        .collect();
    assert!(differing.is_empty(), "C and Rust differ: {differing:#?}");
    assert_eq!(said.lines().count(), expected.len());
}
