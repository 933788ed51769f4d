//! Values that are well formed and cannot work.
