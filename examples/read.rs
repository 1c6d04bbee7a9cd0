// Prints the columns of each batch of TFRecord files: Rust over the C headers, by bindgen.
//
//     echo '#include <columnstone/source.h>' >columnstone.h
//     bindgen columnstone.h -o columnstone.rs -- $(pkg-config --cflags columnstone)
//     OUT_DIR=$PWD rustc --edition 2021 -O read.rs $(pkg-config --libs-only-L columnstone) -lcolumnstone
//     ./read schema.pbtxt trips-*.tfrecord.gz

#[allow(
    dead_code,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals
)]
mod c {
    include!(concat!(env!("OUT_DIR"), "/columnstone.rs"));
}

use std::ffi::{CStr, CString};
use std::mem::{size_of, zeroed};
use std::ptr::null_mut;

/// Calls its closure when it goes out of scope: the owner of a C object.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)()
    }
}

/// What `CST_SOURCE_OPTIONS_INIT` and `CST_ERROR_INIT` are in C: the size, then zeros.
fn source_options() -> c::cst_source_options {
    let mut options: c::cst_source_options = unsafe { zeroed() };
    options.size = size_of::<c::cst_source_options>() as _;
    options
}

fn no_error() -> c::cst_error {
    let mut error: c::cst_error = unsafe { zeroed() };
    error.size = size_of::<c::cst_error>() as _;
    error
}

fn check(status: c::cst_status, error: &c::cst_error) -> Result<(), String> {
    if status == c::cst_status_CST_OK {
        return Ok(());
    }
    let mut text = [0; 4608];
    unsafe {
        c::cst_error_format(error, text.as_mut_ptr(), text.len() as _);
        Err(CStr::from_ptr(text.as_ptr()).to_string_lossy().into_owned())
    }
}

fn read(schema_path: &CStr, files: &[CString]) -> Result<(), String> {
    let mut error = no_error();
    unsafe {
        let mut schema = null_mut();
        check(
            c::cst_schema_open(schema_path.as_ptr(), &mut schema, &mut error),
            &error,
        )?;
        let _schema = OnDrop(move || c::cst_schema_release(schema));

        let mut options = source_options();
        options.schema = schema;
        let paths: Vec<_> = files.iter().map(|file| file.as_ptr()).collect();
        let mut source = null_mut();
        check(
            c::cst_source_open(
                paths.as_ptr(),
                paths.len() as _,
                &options,
                &mut source,
                &mut error,
            ),
            &error,
        )?;
        let _source = OnDrop(move || c::cst_source_release(source));

        let mut columns: c::ArrowSchema = zeroed();
        check(
            c::cst_source_arrow_schema(source, &mut columns, &mut error),
            &error,
        )?;
        let names: Vec<_> = (0..columns.n_children as usize)
            .map(|i| {
                CStr::from_ptr((**columns.children.add(i)).name)
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        (columns.release.unwrap())(&mut columns);

        let mut pass = null_mut();
        check(c::cst_pass_new(source, &mut pass, &mut error), &error)?;
        let _pass = OnDrop(move || c::cst_pass_free(pass));
        loop {
            let mut batch: c::ArrowArray = zeroed();
            check(c::cst_pass_next(pass, &mut batch, &mut error), &error)?;
            let release = match batch.release {
                Some(release) => release,
                None => return Ok(()), // the end
            };
            print!("{} rows:", batch.length);
            for (i, name) in names.iter().enumerate() {
                print!(" {} ({} null)", name, (**batch.children.add(i)).null_count);
            }
            println!();
            release(&mut batch);
        }
    }
}

fn main() {
    let arguments: Vec<CString> = std::env::args_os()
        .map(|word| CString::new(std::os::unix::ffi::OsStringExt::into_vec(word)).unwrap())
        .collect();
    if arguments.len() < 3 {
        eprintln!("usage: read SCHEMA FILE...");
        std::process::exit(2);
    }
    if let Err(text) = read(&arguments[1], &arguments[2..]) {
        eprintln!("read: {}", text);
        std::process::exit(1);
    }
}
