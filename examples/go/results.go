package main

import (
	"encoding/json"
	"errors"
	"math/big"
)

var errInvalid = errors.New("what was given is no collection of results")

func (c *call) collect() (Results, error) {
	if c.err != nil {
		return nil, c.err
	}
	return collect(c.result)
}

// collect reads a collection of results whole.
func collect(given any) (Results, error) {
	switch given := given.(type) {
	case Results:
		return append(Results{}, given...), nil
	case Stream:
		var out Results
		err := given(func(value json.RawMessage) { out = append(out, value) })
		return out, err
	}
	return nil, errInvalid
}

// canonical is a text that is the same for equal keys: 1, 1.0 and true are one, as no key and null.
func canonical(raw json.RawMessage) string {
	if raw == nil {
		return "null"
	}
	var value any
	decode(raw, &value)
	text, _ := json.Marshal(plain(value))
	return string(text)
}

// plain writes numbers and texts so that no number is taken for a text.
func plain(value any) any {
	switch value := value.(type) {
	case bool:
		return map[bool]string{true: "number 1", false: "number 0"}[value]
	case string:
		return "text " + value
	case json.Number:
		if ratio, ok := new(big.Rat).SetString(string(value)); ok {
			return "number " + ratio.RatString()
		}
	case []any:
		for i, item := range value {
			value[i] = plain(item)
		}
	case map[string]any:
		for name, item := range value {
			value[name] = plain(item)
		}
	}
	return value
}
