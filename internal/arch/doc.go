// Package arch has no code: its tests keep the imports of this module pointing down, its dependencies few, and
// docs/contract.md true.
package arch
