//! Readers of NumPy files (NPY and NPZ).

mod npy;
mod npy_header;
mod npz_member;

use crate::error::Error;
use crate::format::Format;
use crate::input_source::InputSource;
use crate::layout::Layout;
use crate::reader::Opened;
use crate::source::Source;
pub use npy::Array;
pub(crate) use npy_header::npy_bytes;
use std::path::Path;

pub fn open_npy(input: &InputSource, layout: &Layout) -> Result<Opened, Error> {
    npy::Npy::open(input, npy::Origin::File, layout)
}

pub fn open_npz(input: &InputSource, layout: &Layout) -> Result<Opened, Error> {
    let member = npz_member::find(input, layout.array.as_deref())?;
    npy::Npy::open(input, npy::Origin::Member(member), layout)
}

/// Reads an NPY file, or the named or only array of an NPZ archive, into memory. Several axes must be in C order.
pub fn read_array(path: &Path, name: Option<&str>) -> Result<Array, Error> {
    let format = Format::of_path(path);
    let input = InputSource::new(&Source::File(path.to_path_buf()), &Layout::new(format))?;
    let mut source = match format {
        Format::Npz => npz_member::find(&input, name)?.open(&input)?,
        _ => input.open()?,
    };
    npy::read_whole(&input, format.name(), &mut source)
}
