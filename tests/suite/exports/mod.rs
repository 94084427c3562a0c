//! Pages, pictures and SMT-LIB.

mod pages;
mod pictures;
mod smtlib;
mod smtlib_programs;
mod smtlib_properties;
