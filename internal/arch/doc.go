// Package arch has no code: its test keeps the imports of this module pointing down.
package arch
