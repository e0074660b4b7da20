{{- define "warmpath.name" -}}
{{- $name := printf "%s-warmpath" .Release.Name }}
{{- if contains "warmpath" .Release.Name }}{{ $name = .Release.Name }}{{ end }}
{{- $name | trunc 52 | trimSuffix "-" }}
{{- end }}

{{/* What selects the gateway's pods, and nothing else. */}}
{{- define "warmpath.selector" -}}
app.kubernetes.io/name: warmpath
app.kubernetes.io/component: gateway
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "warmpath.labels" -}}
{{ include "warmpath.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "warmpath.image" -}}
{{- printf "%s/%s:%s" .Values.image.registry .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) }}
{{- end }}

{{/* Who names the engines: pool, services, or nobody. */}}
{{- define "warmpath.discovery" -}}
{{- if .Values.endpointPicker.enabled }}pool{{ else if .Values.discovery.enabled }}services{{ end }}
{{- end }}

{{/* What would not work, said before anything is applied. */}}
{{- define "warmpath.check" -}}
{{- if not .Values.image.registry }}
{{- fail "image.registry is not set: no image of Warmpath is published. Build one (./warmpath image), push it to your registry and say --set image.registry=registry.example.com/team; for an image that is on the nodes already, say what its name has before /warmpath: docker.io/library or localhost" }}
{{- end }}
{{- $several := or (gt (int .Values.replicas) 1) .Values.autoscaling.enabled -}}
{{- if and $several (not (dig "replica" "sync" false .Values.config)) }}
{{- fail "several gateways must share their load: set config.replica.sync to true and config.nats.servers (k8s/README.md)" }}
{{- end }}
{{- $grace := dig "http" "shutdown-grace" "30s" .Values.config | toString }}
{{- $delay := dig "http" "shutdown-delay" "0s" .Values.config | toString }}
{{- if and (regexMatch "^[0-9]+s$" $grace) (regexMatch "^[0-9]+s$" $delay) }}
{{- if le (int .Values.terminationGracePeriodSeconds) (add (int .Values.preStopSeconds) (int (trimSuffix "s" $delay)) (int (trimSuffix "s" $grace))) }}
{{- fail "terminationGracePeriodSeconds must be longer than preStopSeconds, config.http.shutdown-delay and config.http.shutdown-grace together" }}
{{- end }}
{{- end }}
{{- end }}
