"""Reads the dynamic linking tables of programs and libraries with readelf."""
import re
import subprocess


def elf_files(folder):
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]


def read(path, *options):
    return subprocess.run(["readelf", *options, str(path)], check=True, stdout=subprocess.PIPE, text=True).stdout


def needed(path):
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", read(path, "-d")))


def run_paths(path):
    tables = re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", read(path, "-d"))
    return [folder for table in tables for folder in table.split(":")]


def newest_glibc(path):
    """Returns the newest glibc version whose symbols the file needs, such as (2, 34)."""
    versions = re.findall(r"GLIBC_(\d+)\.(\d+)", read(path, "-V"))
    return max([(int(major), int(minor)) for major, minor in versions], default=(0, 0))
