package kubernetes

import meta "k8s.io/apimachinery/pkg/apis/meta/v1"

// The fields of Strimzi's resources that the chart writes, as its API reference of v1 names them. No Go module has its types.

type metadata struct {
	Name        string            `json:"name"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

type kafka struct {
	meta.TypeMeta `json:",inline"`
	Metadata      metadata `json:"metadata"`
	Spec          struct {
		Kafka struct {
			Version   string `json:"version"`
			Listeners []struct {
				Name           string `json:"name"`
				Port           int    `json:"port"`
				Type           string `json:"type"`
				TLS            bool   `json:"tls"`
				Authentication struct {
					Type string `json:"type"`
				} `json:"authentication"`
			} `json:"listeners"`
			Authorization struct {
				Type string `json:"type"`
			} `json:"authorization"`
			Config map[string]any `json:"config"`
		} `json:"kafka"`
		EntityOperator struct {
			UserOperator map[string]any `json:"userOperator"`
		} `json:"entityOperator"`
	} `json:"spec"`
}

type kafkaNodePool struct {
	meta.TypeMeta `json:",inline"`
	Metadata      metadata `json:"metadata"`
	Spec          struct {
		Replicas int      `json:"replicas"`
		Roles    []string `json:"roles"`
		Storage  struct {
			Type    string `json:"type"`
			Volumes []struct {
				ID          int    `json:"id"`
				Type        string `json:"type"`
				Size        string `json:"size"`
				Class       string `json:"class"`
				DeleteClaim bool   `json:"deleteClaim"`
			} `json:"volumes"`
		} `json:"storage"`
	} `json:"spec"`
}

type kafkaUser struct {
	meta.TypeMeta `json:",inline"`
	Metadata      metadata `json:"metadata"`
	Spec          struct {
		Authentication struct {
			Type string `json:"type"`
		} `json:"authentication"`
		Authorization struct {
			Type string `json:"type"`
			ACLs []struct {
				Resource struct {
					Type        string `json:"type"`
					Name        string `json:"name"`
					PatternType string `json:"patternType"`
				} `json:"resource"`
				Operations []string `json:"operations"`
			} `json:"acls"`
		} `json:"authorization"`
	} `json:"spec"`
}
