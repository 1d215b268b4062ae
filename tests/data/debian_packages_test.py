#!/usr/bin/python3
"""data/debian_packages over the lists in samples/, whole and compressed."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
EXTRACTOR = HERE.parents[1] / "data" / "debian_packages"
SAMPLES = HERE / "samples"
SAMPLE = "deb.example.org_debian_dists_sample_main_binary-amd64_Packages"

EXPECTED = """\
editor	depends	libc6
editor	depends	python3
editor	depends	fonts-a
editor	depends	fonts-b
editor	pre-depends	dpkg
editor	suggests	editor-doc
editor	suggests	spell
editor	suggests	aspell
editor	conflicts	editor
editor	provides	text-editor
editor	section	section:editors
editor	priority	priority:optional
editor	architecture	architecture:amd64
editor	source	source:editor
editor	maintainer	maintainer:Ada Lovelace, Countess
editor	tag	tag:role::program
editor	tag	tag:interface::text-mode
editor	tag	tag:uitoolkit::ncurses
editor-doc	enhances	editor
editor-doc	section	section:doc
editor-doc	priority	priority:optional
editor-doc	architecture	architecture:all
editor-doc	source	source:editor
editor-doc	maintainer	maintainer:Ärzte Team
editor	depends	libold
editor	maintainer	maintainer:ops@example.org
"""


def extract(*arguments):
    return subprocess.run([EXTRACTOR, *arguments], capture_output=True, encoding="utf-8")


class DebianPackages(unittest.TestCase):
    maxDiff = None

    def test_every_relation_of_one_list(self):
        result = extract("--lists", SAMPLES, "--suite", "sample")
        self.assertEqual(result.stderr, "")
        self.assertEqual(result.stdout, EXPECTED)

    def test_all_suites_of_main_without_duplicates(self):
        lines = extract("--lists", SAMPLES).stdout.splitlines()
        self.assertEqual(len(lines), len(set(lines)))
        self.assertIn("editor\tdepends\tlibnew", lines)
        self.assertFalse([line for line in lines if line.startswith("hidden")])

    def test_the_order_of_relations_is_fixed(self):
        a = extract("--lists", SAMPLES, "--suite", "sample", "--relations", "tag,depends").stdout
        b = extract("--lists", SAMPLES, "--suite", "sample", "--relations", "depends,tag").stdout
        wanted = [line for line in EXPECTED.splitlines() if line.split("\t")[1] in ("depends", "tag")]
        self.assertEqual(a, b)
        self.assertEqual(a.splitlines(), wanted)

    def test_compressed_lists_read_the_same_and_cut_ones_are_errors(self):
        for command, extension in (["gzip", "gz"], ["zstd", "zst"], ["lz4", "lz4"], ["xz", "xz"]):
            if shutil.which(command) is None:
                continue
            with self.subTest(extension), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, f"{SAMPLE}.{extension}")
                packed = subprocess.run([command, "-c"], input=(SAMPLES / SAMPLE).read_bytes(), capture_output=True,
                                        check=True).stdout
                path.write_bytes(packed)
                self.assertEqual(extract("--lists", folder).stdout, EXPECTED)
                path.write_bytes(packed[:-20])
                result = extract("--lists", folder)
                self.assertEqual(result.returncode, 1)
                self.assertIn(path.name, result.stderr)

    def test_no_lists_and_wrong_names_are_told(self):
        with tempfile.TemporaryDirectory() as folder:
            result = extract("--lists", folder)
            self.assertEqual(result.returncode, 1)
            self.assertIn("apt-get update", result.stderr)
        result = extract("--lists", SAMPLES, "--suite", "none")
        self.assertEqual(result.returncode, 1)
        self.assertIn("of suite none", result.stderr)
        result = extract("--relations", "depends,nonsense")
        self.assertEqual(result.returncode, 2)
        self.assertIn('found "nonsense"', result.stderr)

    def test_a_reader_that_leaves_early_is_no_error(self):
        self.assertEqual(subprocess.run(f"{EXTRACTOR} --lists {SAMPLES} | head -n 1", shell=True,
                                        capture_output=True, text=True).stderr, "")


if __name__ == "__main__":
    unittest.main()
