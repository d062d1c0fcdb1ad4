// An operator in Go that is verified by scenarios and traces in lines of JSON.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
)

const declaration = `{"protocol": 2, "lacks": ["one-loop"], "profiles": ["ordered", "unordered", "key-ordered",
 "timeouts", "retry", "failure-handler", "max-held", "statistics", "event-time"]}`

func main() {
	lines := bufio.NewReader(os.Stdin)
	replies := json.NewEncoder(os.Stdout)
	replies.Encode(json.RawMessage(declaration))
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		replies.Encode(answer(line))
	}
}

func answer(line []byte) Reply {
	request := Request{Scenario: Scenario{Mode: "ordered", Capacity: 4}}
	if err := decode(line, &request); err != nil {
		return Reply{Error: err.Error(), Number: request.Number}
	}
	if name := request.Scenario.undeclared(); name != "" {
		return Reply{Error: "this program does not declare what `" + name + "` needs", Number: request.Number}
	}
	return Reply{Trace: play(request.Scenario), Number: request.Number}
}

// decode reads JSON and keeps numbers as they are written.
func decode(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(into)
}
