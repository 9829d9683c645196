// Package interop has no code: its tests run autopipe beside other people's hooks, which must not reach a user's graph.
package interop
