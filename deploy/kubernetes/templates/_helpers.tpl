{{- define "name" -}}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{- end }}

{{- define "selector" -}}
app.kubernetes.io/name: frontdesk
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .name }}
{{- end }}

{{- define "labels" -}}
{{ include "selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{- define "image" -}}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{- end }}

{{- define "brokers" -}}
{{- if .Values.strimzi.enabled }}{{ include "name" . }}-kafka-bootstrap:9093
{{- else }}{{ required "kafka.brokers: host:port,… of the brokers, or strimzi.enabled" .Values.kafka.brokers }}{{ end }}
{{- end }}

{{- define "secretEnv" }}
- name: {{ .name }}
  valueFrom: {secretKeyRef: {name: {{ .secret }}, key: {{ .key }}{{ if hasKey . "optional" }}, optional: true{{ end }}}}
{{- end }}

{{- /* kafkaEnv is what a process needs to sign in at the brokers. */}}
{{- define "kafkaEnv" }}
- {name: KAFKA_BROKERS, value: {{ include "brokers" .root | quote }}}
{{- if include "kafkaCA" .root }}
- {name: SVC_KAFKA_CA, value: /kafka/ca.crt}
{{- end }}
{{- if .root.Values.strimzi.enabled }}
- {name: SVC_KAFKA_USER, value: {{ include "name" .root }}-{{ .name }}}
{{- include "secretEnv" (dict "name" "SVC_KAFKA_PASSWORD" "secret" (printf "%s-%s" (include "name" .root) .name) "key" "password") }}
{{- else if .root.Values.kafka.users }}
- {name: SVC_KAFKA_USER, value: {{ .name }}}
{{- include "secretEnv" (dict "name" "SVC_KAFKA_PASSWORD" "secret" .root.Values.secret "key" (printf "%s_KAFKA_PASSWORD" (upper .name))) }}
{{- end }}
{{- end }}

{{- define "kafkaCA" }}
{{- if .Values.strimzi.enabled }}{{ include "name" . }}-cluster-ca-cert{{ else }}{{ .Values.kafka.ca.secret }}{{ end }}
{{- end }}

{{- /* postgres is where the server of a service is, as JSON. */}}
{{- define "postgres" -}}
{{ mergeOverwrite (deepCopy .root.Values.postgres) (deepCopy (get .settings "postgres" | default dict)) | toJson }}
{{- end }}

{{- /* postgresCA is the Secret with the authority of that server; empty if a service has none, and for the gateway. */}}
{{- define "postgresCA" }}
{{- if not (or .root.Values.cloudnativePG.enabled (eq .name "gateway")) }}{{ (include "postgres" . | fromJson).ca.secret }}{{ end }}
{{- end }}

{{- /* cluster is the name of the cluster that CloudNativePG makes for a service. */}}
{{- define "cluster" -}}
{{- $cluster := printf "%s-%s%s" (include "name" .root) .name .root.Values.cloudnativePG.suffix }}
{{- if gt (len $cluster) 50 }}{{ fail (printf "the name of the cluster %s has more than 50 letters, which CloudNativePG refuses: take a shorter name of the release" $cluster) }}{{ end }}
{{- $cluster }}
{{- end }}

{{- define "volumes" }}
- {name: tmp, emptyDir: {sizeLimit: {{ .settings.tmp }}}}
{{- with include "kafkaCA" .root }}
- {name: kafka, secret: {secretName: {{ . }}, items: [{key: {{ if $.root.Values.strimzi.enabled }}ca.crt{{ else }}{{ $.root.Values.kafka.ca.key }}{{ end }}, path: ca.crt}]}}
{{- end }}
{{- with include "postgresCA" . }}
- {name: postgres, secret: {secretName: {{ . }}, items: [{key: {{ (include "postgres" $ | fromJson).ca.key }}, path: ca.crt}]}}
{{- end }}
{{- end }}

{{- define "mounts" }}
- {name: tmp, mountPath: /tmp}
{{- if include "kafkaCA" .root }}
- {name: kafka, mountPath: /kafka, readOnly: true}
{{- end }}
{{- if include "postgresCA" . }}
- {name: postgres, mountPath: /postgres, readOnly: true}
{{- end }}
{{- end }}

{{- /* resources are those of the container that fills /tmp: it asks for the room. */}}
{{- define "resources" -}}
{{ mergeOverwrite (dict "requests" (dict "ephemeral-storage" .tmp)) (deepCopy .resources) | toJson }}
{{- end }}

{{- define "confined" -}}
{allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
{{- end }}

{{- define "pod" }}
automountServiceAccountToken: false
enableServiceLinks: false
terminationGracePeriodSeconds: 30 # a stop takes eleven seconds at most, behind the five that a gateway waits
securityContext: {runAsNonRoot: true, runAsUser: 65534, runAsGroup: 65534, fsGroup: 65534, seccompProfile: {type: RuntimeDefault}}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
{{- with .settings.nodeSelector }}
nodeSelector: {{ toJson . }}
{{- end }}
{{- with .settings.tolerations }}
tolerations: {{ toJson . }}
{{- end }}
{{- end }}

{{- define "spread" }}
topologySpreadConstraints:
{{- range $key := list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ $key }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector: {matchLabels: {{ include "selector" $ | fromYaml | toJson }}}
{{- end }}
{{- end }}

{{- /* container is that of a service, for its replicas and for its migration. */}}
{{- define "container" }}
{{- $v := .root.Values }}
{{- $secret := $v.secret }}
{{- $key := upper .name }}
name: {{ .name }}
image: {{ include "image" .root }}
imagePullPolicy: {{ $v.image.pullPolicy }}
securityContext: {{ include "confined" . }}
resources: {{ include "resources" .settings }}
env:
  - {name: SVC_LISTEN, value: ":8000"}
  - {name: SVC_ADMIN_LISTEN, value: ":9000"}
  - {name: SVC_BASE_URL, value: "http://{{ include "name" .root }}-{{ .name }}:8000"}
  - {name: SVC_PUBLIC_URL, value: {{ required "publicURL: the address that people use" $v.publicURL | quote }}}
  - {name: SVC_TIMEZONE, value: {{ $v.timezone | quote }}}
  - {name: SVC_TRUSTED_PROXIES, value: {{ join "," $v.trustedProxies | quote }}}
  - {name: SVC_FETCH_ALLOW, value: {{ join "," $v.fetchAllow | quote }}}
  {{- with $v.otlpEndpoint }}
  - {name: OTEL_EXPORTER_OTLP_ENDPOINT, value: {{ . | quote }}}
  {{- end }}
  {{- include "kafkaEnv" . | indent 2 }}
  {{- include "secretEnv" (dict "name" "SVC_MASTER_KEY" "secret" $secret "key" (printf "%s_KEY" $key)) | indent 2 }}
  {{- include "secretEnv" (dict "name" "SVC_OLD_KEYS" "secret" $secret "key" (printf "%s_OLD_KEYS" $key) "optional" true) | indent 2 }}
  {{- include "secretEnv" (dict "name" "SVC_SHARED_KEY" "secret" $secret "key" "SVC_SHARED_KEY") | indent 2 }}
  {{- include "secretEnv" (dict "name" "SVC_PUBLIC_KEYS" "secret" $secret "key" "SVC_PUBLIC_KEYS") | indent 2 }}
  {{- if $v.cloudnativePG.enabled }}
  {{- include "secretEnv" (dict "name" "DATABASE_URL" "secret" (printf "%s-app" (include "cluster" .)) "key" "uri") | indent 2 }}
  {{- else }}
  {{- include "secretEnv" (dict "name" "DATABASE_URL" "secret" $secret "key" (printf "%s_DATABASE_URL" $key)) | indent 2 }}
  {{- end }}
  {{- if eq .name "settings" }}
  - {name: SVC_GATEWAY_URL, value: "http://{{ include "name" .root }}-gateway-inside:8080"}
  - {name: SVC_ADMIN_LOGIN, value: {{ $v.admin.login | quote }}}
  - {name: SVC_ADMIN_EMAIL, value: {{ $v.admin.email | quote }}}
  - {name: SVC_MAIL_FROM, value: {{ $v.mail.from | quote }}}
  {{- with $v.auditStream }}
  - {name: SVC_AUDIT_STREAM, value: {{ . | quote }}}
  {{- end }}
  {{- with $v.oidc }}
  {{- if .issuer }}
  - {name: SVC_OIDC_ISSUER, value: {{ .issuer | quote }}}
  - {name: SVC_OIDC_CLIENT_ID, value: {{ .clientID | quote }}}
  - {name: SVC_OIDC_NAME, value: {{ .name | quote }}}
  - {name: SVC_OIDC_CLAIM, value: {{ .claim | quote }}}
  - {name: SVC_OIDC_ROLES, value: {{ .roles | quote }}}
  - {name: SVC_OIDC_MFA, value: {{ .mfa | quote }}}
  - {name: SVC_OIDC_ONLY, value: {{ .only | quote }}}
  {{- include "secretEnv" (dict "name" "SVC_OIDC_CLIENT_SECRET" "secret" $secret "key" "SVC_OIDC_CLIENT_SECRET" "optional" true) | indent 2 }}
  {{- end }}
  {{- end }}
  {{- include "secretEnv" (dict "name" "SVC_ADMIN_PASSWORD" "secret" $secret "key" "SVC_ADMIN_PASSWORD") | indent 2 }}
  {{- include "secretEnv" (dict "name" "SVC_SMTP_URL" "secret" $secret "key" "SVC_SMTP_URL" "optional" true) | indent 2 }}
  {{- end }}
  {{- range $name, $value := $v.env }}
  - {name: {{ $name }}, value: {{ $value | quote }}}
  {{- end }}
volumeMounts:
  {{- include "mounts" . | indent 2 }}
{{- end }}

{{- /* rules for the addresses and networks of fetchAllow; a policy cannot name a host */}}
{{- define "receivers" }}
{{- range . }}
{{- if regexMatch "^[0-9.]+(/[0-9]+)?(:[0-9]+)?$" . }}
{{- $at := regexReplaceAll ":[0-9]+$" . "" }}
{{- $port := trimPrefix ":" (regexFind ":[0-9]+$" .) }}
- to: [{ipBlock: {cidr: {{ contains "/" $at | ternary $at (printf "%s/32" $at) }}}}]
  ports: [{protocol: TCP, {{ if $port }}port: {{ $port }}{{ else }}port: 1, endPort: 65535{{ end }}}]
{{- end }}
{{- end }}
{{- end }}

{{- /* rules that every process has: names, Kafka, traces */}}
{{- define "everybody" }}
- to: [{namespaceSelector: {}}]
  ports: [{protocol: UDP, port: 53}, {protocol: TCP, port: 53}]
{{- if .Values.strimzi.enabled }}
- to: [{podSelector: {matchLabels: {strimzi.io/cluster: {{ include "name" . }}, strimzi.io/kind: Kafka}}}]
  ports: [{protocol: TCP, port: 9093}]
{{- else }}
- {{ with .Values.kafka.peers }}to: {{ toJson . }}
  {{ end }}ports:
    {{- $ports := list }}
    {{- range splitList "," .Values.kafka.brokers }}{{ $ports = append $ports (splitList ":" . | last | int) }}{{ end }}
    {{- range uniq $ports }}
    - {protocol: TCP, port: {{ . }}}
    {{- end }}
{{- end }}
{{- if .Values.otlpEndpoint }}
- {{ with .Values.networkPolicies.otlp.peers }}to: {{ toJson . }}
  {{ end }}ports: [{protocol: TCP, port: {{ .Values.networkPolicies.otlp.port }}}]
{{- end }}
{{- end }}

{{- /* replicas is the number in a deployment. An autoscaled one keeps that which runs until the autoscaler has scaled it for the first time, and
owns the field: an upgrade that leaves the field out before that sets one replica. */}}
{{- define "replicas" }}
{{- if not .settings.autoscaling.enabled }}
replicas: {{ .settings.replicas }}
{{- else }}
{{- $runs := lookup "apps/v1" "Deployment" .root.Release.Namespace (printf "%s-%s" (include "name" .root) .name) }}
{{- $scaled := false }}
{{- range dig "metadata" "managedFields" list $runs }}{{ if eq (get . "subresource") "scale" }}{{ $scaled = true }}{{ end }}{{ end }}
{{- if and $runs (not $scaled) }}
replicas: {{ $runs.spec.replicas }}
{{- end }}
{{- end }}
{{- end }}
