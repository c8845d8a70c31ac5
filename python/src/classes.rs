//! Macros for Python classes: read-only attributes, pickling, model files, and dictionaries.

/// Adds read-only attributes to a class.
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

/// Implements pickling by the bytes of the field `state`, from which `$restored` creates the object.
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

/// Adds methods that save and pickle an object as the model file of its `core`. The resume state contains data of
/// the calling program as JSON, or is empty.
macro_rules! model_file {
    ($class:ident) => {
        #[pyo3::pymethods]
        impl $class {
            #[pyo3(name = "_resume_state")]
            fn resume_state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
                Ok(PyBytes::new(py, &self.state(py)?.core.resume_state))
            }

            #[pyo3(name = "_set_resume_state")]
            fn set_resume_state(&self, py: Python<'_>, resume_state: Vec<u8>) -> PyResult<()> {
                self.state(py)?.core.resume_state = resume_state;
                Ok(())
            }

            /// Return the model as the bytes of a model file.
            fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
                let bytes = eigenhedge::checked_bytes(&self.state(py)?.core).map_err(refused)?;
                Ok(PyBytes::new(py, &bytes))
            }

            /// Write a model file. An existing file is replaced atomically.
            fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
                let bytes = self.to_bytes(py)?;
                let bytes = bytes.as_bytes();
                py.detach(|| write_private(&path, bytes)).map_err(file_refused)
            }

            fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<crate::state::Reduced<'py>> {
                crate::state::reduced(slf, "from_bytes", slf.get().to_bytes(slf.py())?)
            }

            fn __sizeof__(&self, py: Python<'_>) -> PyResult<usize> {
                Ok(size_of::<Self>() + self.to_bytes(py).map_or(0, |bytes| bytes.as_bytes().len()))
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

pub(crate) use {attributes, dictionary, model_file, pickled};
