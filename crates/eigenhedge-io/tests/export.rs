//! Export of models as plain numbers.
#![allow(clippy::unwrap_used)]

use eigenhedge::LinearMap;
use eigenhedge_io::{Format, Layout, Source, Stream, write_linear_map};

fn map() -> LinearMap {
    LinearMap {
        columns: Some(["a, b", "größe"].map(str::to_owned).to_vec()),
        mean: vec![0.1, -2.0],
        scale: vec![1.0, 3e-7],
        components: vec![vec![0.6, 0.8], vec![-0.8, 0.6], vec![0.0, 0.0]],
    }
}

#[test]
fn every_form_reads_back_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str| {
        let path = folder.path().join(name);
        write_linear_map(&path, &map()).unwrap();
        path
    };
    let json: serde_json::Value = serde_json::from_slice(&std::fs::read(write("m.json")).unwrap()).unwrap();
    assert_eq!(json, serde_json::to_value(map()).unwrap());
    assert_eq!(json["components"][1][0], -0.8);

    let text = std::fs::read_to_string(write("m.CSV")).unwrap();
    assert_eq!(text, "column,mean,scale,z0,z1,z2\n\"a, b\",0.1,1.0,0.6,-0.8,0.0\ngröße,-2.0,3e-7,0.8,0.6,0.0\n");

    let path = write("m.npz");
    let layout = Layout { array: Some("components".into()), ..Layout::new(Format::Npz) };
    let mut stream = Stream::open(&Source::File(path.clone()), &layout).unwrap();
    for component in map().components {
        assert_eq!(stream.next_row().unwrap().unwrap(), component);
    }
    let (mut archive, mut letters) = (zip::ZipArchive::new(std::fs::File::open(&path).unwrap()).unwrap(), Vec::new());
    std::io::Read::read_to_end(&mut archive.by_name("columns.npy").unwrap(), &mut letters).unwrap();
    assert_eq!(letters.len() % 64, 2 * 5 * 4);
    let text: String = letters[letters.len() - 20..]
        .chunks(4)
        .map(|c| char::from_u32(u32::from_le_bytes(c.try_into().unwrap())).unwrap())
        .collect();
    assert_eq!(text, "größe");
    assert_eq!(std::fs::read(write("again.npz")).unwrap(), std::fs::read(path).unwrap());
}

#[test]
fn another_end_of_the_name_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["m.onnx", "m", "m.txt"] {
        let error = write_linear_map(&folder.path().join(name), &map()).unwrap_err().to_string();
        let sentence = "must end in .json, .csv or .npz; .onnx is written by eigenhedge.export in Python";
        assert!(error.ends_with(&format!("{name}: {sentence}")), "{error}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
