// Rewrites results.json beside it with what Go's own text/template makes of each of its cases:
//
//	go run test/adapters/templates/go-results/main.go
//	npx prettier --write test/adapters/templates/go-results
//
// To add a case, add ["the template", ""] to the list and run it.
package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"text/template"
)

const file = "test/adapters/templates/go-results/results.json"

type results struct {
	Data  json.RawMessage `json:"data"`
	Cases [][]string      `json:"cases"`
}

func main() {
	text, err := os.ReadFile(filepath.FromSlash(file))
	must(err)
	var all results
	must(json.Unmarshal(text, &all))
	var data map[string]any
	must(json.Unmarshal(all.Data, &data))

	var out bytes.Buffer
	out.WriteString("{\n  \"data\": ")
	must(json.Indent(&out, all.Data, "  ", "  "))
	out.WriteString(",\n  \"cases\": [\n")
	for i, c := range all.Cases {
		if i > 0 {
			out.WriteString(",\n")
		}
		out.WriteString("    ")
		out.Write(line(c[0], data))
	}
	out.WriteString("\n  ]\n}\n")
	must(os.WriteFile(filepath.FromSlash(file), out.Bytes(), 0o644))
}

// ["template", "output"] or ["template", "", "error"].
func line(source string, data any) []byte {
	row := []string{source}
	var rendered bytes.Buffer
	t, err := template.New("t").Parse(source)
	if err == nil {
		err = t.Execute(&rendered, data)
	}
	if err != nil {
		row = append(row, "", err.Error())
	} else {
		row = append(row, rendered.String())
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	must(encoder.Encode(row))
	return bytes.TrimSpace(text.Bytes())
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
