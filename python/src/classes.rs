//! What the classes and functions of the module repeat: read-only attributes, pickling, and dictionaries.

/// Adds attributes to a class, each with its documentation, its type and its value.
macro_rules! attributes {
    ($class:ident, |$object:ident, $py:ident| { $($(#[$doc:meta])* $name:ident: $type:ty = $value:expr;)* }) => {
        #[pyo3::pymethods]
        impl $class {
            $(
                $(#[$doc])*
                #[getter]
                fn $name<'py>(&self, $py: pyo3::Python<'py>) -> pyo3::PyResult<$type> {
                    let ($object, _) = (self, $py);
                    Ok($value)
                }
            )*
        }
    };
}

/// Pickles a class as the bytes of the field `state`. `$restored` is the object with a deserialized state.
macro_rules! pickled {
    ($class:ident, |$state:ident| $restored:expr) => {
        #[pyo3::pymethods]
        impl $class {
            #[staticmethod]
            #[pyo3(name = "_from_bytes")]
            fn from_bytes(data: &[u8]) -> pyo3::PyResult<Self> {
                let $state = crate::state::restored(data)?;
                $restored
            }

            fn __reduce__<'py>(slf: &pyo3::Bound<'py, Self>) -> pyo3::PyResult<crate::state::Reduced<'py>> {
                let bytes = crate::state::saved(slf.py(), &*crate::state::lock(slf.py(), &slf.get().state)?)?;
                crate::state::reduced(slf, "_from_bytes", bytes)
            }
        }
    };
}

macro_rules! dictionary {
    ($py:expr; $($name:literal: $value:expr),* $(,)?) => {{
        let made = pyo3::types::PyDict::new($py);
        $(made.set_item($name, $value)?;)*
        made
    }};
}

pub(crate) use {attributes, dictionary, pickled};
