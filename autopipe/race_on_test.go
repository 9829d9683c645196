//go:build race

package autopipe

const raceEnabled = true
