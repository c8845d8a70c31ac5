//! NumPy's files.

mod npy;
mod npy_header;
mod npz_member;

use crate::error::Error;
use crate::input_source::Tap;
use crate::layout::Layout;
use crate::reader::Opened;

/// Opens one array.
pub fn open_npy(tap: &Tap, layout: &Layout) -> Result<Opened, Error> {
    npy::Npy::open(tap, npy::Origin::File, layout)
}

/// Opens an array in an archive.
pub fn open_npz(tap: &Tap, layout: &Layout) -> Result<Opened, Error> {
    let member = npz_member::find(tap, layout.array.as_deref())?;
    npy::Npy::open(tap, npy::Origin::Member(member), layout)
}
