// RUN: reprise-opt %s -split-input-file -verify-diagnostics
// The child cuts the text where the parent does.
func.func private @same_name()

// -----

func.func private @same_name()

// -----

// expected-error@+1 {{custom op 'garbage' is unknown}}
garbage
