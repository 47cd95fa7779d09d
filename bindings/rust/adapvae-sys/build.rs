//! Finds the library by pkg-config, or (feature `bundled`) compiles its amalgamation with the system's C++
//! compiler ($CXX, else c++). The amalgamation is in native/ of a packed crate; in a checkout it is made.
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn run(command: &mut Command) -> Vec<u8> {
    match command.output() {
        Ok(done) if done.status.success() => done.stdout,
        Ok(done) => panic!("{:?} failed:\n{}", command, String::from_utf8_lossy(&done.stderr)),
        Err(error) => panic!("{:?}: {}", command, error),
    }
}

/// A program with arguments, from the environment.
fn tool(name: &str, usual: &str) -> Command {
    println!("cargo:rerun-if-env-changed={}", name);
    let text = env::var(name).unwrap_or_else(|_| usual.to_string());
    let mut words = text.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or(usual));
    command.args(words);
    command
}

fn compile(crate_folder: &Path, out: &Path) {
    let packed = crate_folder.join("native");
    let checkout = crate_folder.join("../../..");
    let sources = if packed.join("adapvae.cpp").is_file() {
        println!("cargo:rerun-if-changed=native");
        packed
    } else {
        for part in ["lib", "capi", "tools/amalgamate.py"] {
            println!("cargo:rerun-if-changed={}", checkout.join(part).display());
        }
        run(Command::new("python3").arg(checkout.join("tools/amalgamate.py")).arg(out));
        out.to_path_buf()
    };
    let object = out.join("adapvae.o");
    run(tool("CXX", "c++")
        .args(["-std=c++20", "-O3", "-DNDEBUG", "-fPIC", "-fno-exceptions", "-fno-rtti", "-c"])
        .arg(sources.join("adapvae.cpp"))
        .arg("-o")
        .arg(&object));
    let archive = out.join("libadapvae.a");
    let _ = std::fs::remove_file(&archive);
    run(tool("AR", "ar").arg("rcs").arg(&archive).arg(&object));
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=static=adapvae");
    println!("cargo:rustc-link-lib=m");
}

fn find() {
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    let told = run(tool("PKG_CONFIG", "pkg-config").args(["--libs", "adapvae"]));
    for word in String::from_utf8_lossy(&told).split_whitespace() {
        if let Some(folder) = word.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={}", folder);
        } else if let Some(library) = word.strip_prefix("-l") {
            println!("cargo:rustc-link-lib={}", library);
        }
    }
}

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_BUNDLED").is_some() {
        let folder = |name| PathBuf::from(env::var_os(name).expect("cargo sets it"));
        compile(&folder("CARGO_MANIFEST_DIR"), &folder("OUT_DIR"));
    } else {
        find();
    }
}
