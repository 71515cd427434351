// Package testutil stands in for the one of that name with which specs look at metrics.
package testutil

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

var named = regexp.MustCompile(`fqName: "([^"]+)"`)

// sluiceValue is what the controller's page of metrics says of a metric that the specs look at in
// their own process: the sample of the same name (with this ending) and labels, 0 where there is
// none.
func sluiceValue(metric any, ending string) (float64, error) {
	of, ok := metric.(prometheus.Metric)
	if !ok {
		return 0, fmt.Errorf("%T is no metric", metric)
	}
	written := &dto.Metric{}
	if err := of.Write(written); err != nil {
		return 0, err
	}
	asks := "name=" + named.FindStringSubmatch(of.Desc().String())[1] + ending
	for _, each := range written.Label {
		asks += "&" + url.QueryEscape(each.GetName()) + "=" + url.QueryEscape(each.GetValue())
	}
	answer, err := http.Get(os.Getenv("SUITES_SERVER") + "/metric?" + asks)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(string(text), 64)
}

func GetGaugeMetricValue(metric any) (float64, error) { return sluiceValue(metric, "") }

func GetCounterMetricValue(metric any) (float64, error) { return sluiceValue(metric, "") }

func GetHistogramMetricCount(metric any) (uint64, error) {
	value, err := sluiceValue(metric, "_count")
	return uint64(value), err
}
