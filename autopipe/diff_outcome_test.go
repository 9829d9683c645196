package autopipe_test

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// diffSkip names methods that are not compared, and why.
var diffSkip = map[string]string{
	"Pipeline": "no command", "Pipelined": "no command", "TxPipeline": "no command", "TxPipelined": "no command",
	"Shutdown": "ends the server", "ShutdownSave": "ends the server", "ShutdownNoSave": "ends the server",
	"Quit": "go-redis panics: not implemented", "Sync": "go-redis panics: not implemented",
	"SlaveOf": "makes the server a replica, empty and read-only", "ReplicaOf": "as SlaveOf",
	"ClientPause": "holds the company too; TestState_ConnLeftInFlight has it", "ClientKillByFilter": "kills the company's connections",
	"BgSave": "forks, and the next call is told so or not", "BgRewriteAOF": "as BgSave",
	"ClientTracking": "leaves a pooled connection in another state", "ClientTrackingOn": "as ClientTracking", "ClientTrackingOff": "as ClientTracking",
	"ClientMaintNotifications": "as ClientTracking", "Hello": "as ClientTracking",
	"ConfigRewrite": "needs a file", "DebugObject": "the reply holds addresses",
	"XAutoClaim": "a pause in milliseconds decides; by hand in diffByHand", "XAutoClaimJustID": "as XAutoClaim", "XAutoClaimWithDeleted": "as XAutoClaim",
}

// diffVaries names methods whose reply varies by nature, and what of it can be compared: nil is its type and error only.
var diffVaries = map[string]func(string) string{
	"Time": nil, "LastSave": nil, "Info": nil, "InfoMap": nil, "MemoryUsage": nil, // clocks and allocators
	"ClientID": nil, "ClientInfo": nil, "ClientList": nil, "ClientGetName": nil, // connections
	"RandomKey": nil, "SRandMember": nil, "SPop": nil, "SPopN": nil, "SRandMemberN": nil, "HRandField": nil, // chance
	"HRandFieldWithValues": nil, "ZRandMember": nil, "ZRandMemberWithScores": nil, "ACLGenPass": nil,
	"SlowLogGet": nil, "SlowLogLen": nil, "Latency": nil, "LatencyReset": nil, "ACLLog": nil, // what took long, and when
	"Scan": nil, "ScanType": nil, "Keys": sortWords, "SScan": nil, // order by a seed of the server's
	"Command": nil, "CommandList": sortWords, "FunctionList": sortWords, // a map
	"PTTL": diffNoMillis, "PExpireTime": nil, "ExpireTime": nil, // counts down
	"XInfoConsumers": diffNoMillis, "XInfoStreamFull": diffNoSeen, "XPendingExt": diffNoMillis, // idle times
	"ObjectIdleTime": nil, // seconds
	"ConfigGet":      nil, // ports and directories
	"ACLList":        diffNoHash,
}

var diffDigits = regexp.MustCompile(`(\d+(\.\d+)?(ms|s|m|h)|\d{9,}|0x[0-9a-f]+)+`)

func diffNoMillis(s string) string { return diffDigits.ReplaceAllString(s, "N") }

func diffNoSeen(s string) string {
	return regexp.MustCompile(`(Seen|Active|Delivery)Time:[^}]*? \+\d{4} \w+`).ReplaceAllString(diffNoMillis(s), "$1")
}

func diffNoHash(s string) string { return regexp.MustCompile(`[0-9a-f]{64}`).ReplaceAllString(s, "H") }

// sortWords is the text without brackets, its words in order.
func sortWords(s string) string {
	w := strings.Fields(strings.NewReplacer("[", " ", "]", " ", "{", " ", "}", " ").Replace(s))
	slices.Sort(w)
	return strings.Join(w, " ")
}

// diffOutcome is what a caller can see of a command.
func diffOutcome(method string, cmd redis.Cmder) string {
	var out []string
	for _, v := range reflect.ValueOf(cmd).MethodByName("Val").Call(nil) {
		out = append(out, diffText(v))
	}
	s := strings.Join(out, ", ")
	if vary, ok := diffVaries[method]; ok {
		if vary == nil {
			s = "a reply"
		} else {
			s = vary(s)
		}
	}
	return fmt.Sprintf("%T %s; %v", cmd, s, cmd.Err())
}

// diffText prints a value with whatever its pointers point to; fmt sorts maps.
func diffText(v reflect.Value) string {
	for v.Kind() == reflect.Pointer && !v.IsNil() || v.Kind() == reflect.Interface && !v.IsNil() {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Uint8 {
			var parts []string
			for i := range v.Len() {
				parts = append(parts, diffText(v.Index(i)))
			}
			return "[" + strings.Join(parts, " ") + "]"
		}
	case reflect.Invalid:
		return "nil"
	}
	return fmt.Sprintf("%+v", v)
}
