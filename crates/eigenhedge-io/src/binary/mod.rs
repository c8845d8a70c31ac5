//! NumPy's files.

mod npy;
mod npy_header;
mod npz_member;

use crate::error::Error;
use crate::input_source::InputSource;
use crate::layout::Layout;
use crate::reader::Opened;

/// Opens one array.
pub fn open_npy(input: &InputSource, layout: &Layout) -> Result<Opened, Error> {
    npy::Npy::open(input, npy::Origin::File, layout)
}

/// Opens an array in an archive.
pub fn open_npz(input: &InputSource, layout: &Layout) -> Result<Opened, Error> {
    let member = npz_member::find(input, layout.array.as_deref())?;
    npy::Npy::open(input, npy::Origin::Member(member), layout)
}
