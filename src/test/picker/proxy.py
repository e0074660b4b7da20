"""A real Envoy that asks an endpoint picker: its configuration, one listener for each way that gateways wire one."""
import json
import pathlib
import sys

DESTINATION = "x-gateway-destination-endpoint"
EXTENSIONS = "type.googleapis.com/envoy.extensions."

# name: what differs. `cluster` has the engines: `header` takes the destination's header for an address (ORIGINAL_DST), `pool` takes
# the destination's metadata for one of its own endpoints (override_host).
LISTENERS = {
    "plain": {"picker": None, "cluster": "pool"},
    "duplex": {"cluster": "header"},
    "pool": {"cluster": "pool", "retries": 2},
    "buffered": {"cluster": "header", "request": "BUFFERED"},
    "buffered_both": {"cluster": "header", "request": "BUFFERED", "response": "BUFFERED"},
    "streamed": {"cluster": "header", "request": "STREAMED", "response": "STREAMED"},
    "request_only": {"cluster": "header", "response": "NONE"},
    "headers_only": {"cluster": "header", "request": "NONE", "response": "NONE"},
    "subset": {"cluster": "header", "subset": True},
    "fail_open": {"cluster": "pool", "picker": "picker_checked", "open": True},
    "fail_close": {"cluster": "pool", "picker": "picker_checked"},
    "echo": {"cluster": "header", "picker": "picker_other"},
    "clear": {"cluster": "pool", "picker": "picker_clear", "retries": 2},
}


def typed(kind, **fields):
    return {"@type": EXTENSIONS + kind, **fields}


def address(endpoint):
    host, port = endpoint.rsplit(":", 1)
    return {"socket_address": {"address": host, "port_value": int(port)}}


def processor(spec):
    request, response = spec.get("request", "FULL_DUPLEX_STREAMED"), spec.get("response", "FULL_DUPLEX_STREAMED")
    mode = {"request_header_mode": "SEND", "response_header_mode": "SEND", "request_body_mode": request, "response_body_mode": response}
    for side, body in (("request", request), ("response", response)):
        if body == "FULL_DUPLEX_STREAMED":
            mode[f"{side}_trailer_mode"] = "SEND"  # the mode demands it
    return typed("filters.http.ext_proc.v3.ExternalProcessor", grpc_service={"envoy_grpc": {"cluster_name": spec.get("picker", "picker")}},
                 processing_mode=mode, message_timeout="30s", failure_mode_allow=spec.get("open", False),
                 metadata_options={"forwarding_namespaces": {"untyped": ["envoy.lb", "envoy.lb.subset_hint"]},
                                   "receiving_namespaces": {"untyped": ["envoy.lb"]}})


def listener(name, spec, endpoint):
    filters = []
    if spec.get("subset"):
        rule = {"header": "x-subset", "remove": True, "on_header_present": {
            "metadata_namespace": "envoy.lb.subset_hint", "key": DESTINATION + "-subset", "type": "STRING"}}
        filters.append(("subset", typed("filters.http.header_to_metadata.v3.Config", request_rules=[rule])))
    if spec.get("picker", "picker"):
        filters.append(("picker", processor(spec)))
    filters.append(("router", typed("filters.http.router.v3.Router")))
    route = {"cluster": spec["cluster"], "timeout": "300s"}
    if "retries" in spec:
        route["retry_policy"] = {"retry_on": "5xx,connect-failure,reset", "num_retries": spec["retries"]}
    manager = typed("filters.network.http_connection_manager.v3.HttpConnectionManager", stat_prefix=name, codec_type="AUTO",
                    http_protocol_options={"enable_trailers": True}, stream_idle_timeout="300s",
                    route_config={"virtual_hosts": [{"name": name, "domains": ["*"], "routes": [{"match": {"prefix": "/"}, "route": route}]}]},
                    http_filters=[{"name": n, "typed_config": c} for n, c in filters])
    return {"name": name, "address": address(endpoint), "filter_chains": [{"filters": [{"name": "http", "typed_config": manager}]}]}


def protocol(kind):
    options = {"enable_trailers": True} if kind == "http_protocol_options" else {}
    return {"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": typed("upstreams.http.v3.HttpProtocolOptions", explicit_http_config={kind: options})}


def cluster(name, endpoints, kind, **more):
    many = {"priority": "DEFAULT", "max_connections": 40000, "max_pending_requests": 40000, "max_requests": 40000}
    found = {"load_assignment": {"cluster_name": name, "endpoints": [{"lb_endpoints": [{"endpoint": {"address": address(e)}} for e in endpoints]}]},
             "type": "STATIC"} if endpoints else {}
    return {"name": name, "connect_timeout": "1s", "circuit_breakers": {"thresholds": [many]}, "typed_extension_protocol_options": protocol(kind), **found, **more}


def key(name):
    return {"key": "envoy.lb", "path": [{"key": name}]}


def configuration(listeners, engines, picker, clear, other=None, table=LISTENERS):
    """`listeners`: {name: ip:port}; `engines`: their ip:port; `picker`, `clear`: where one is asked in TLS, and one in clear text; `other`: as `clear`."""
    round_robin = {"typed_extension_config": {"name": "round_robin", "typed_config": typed("load_balancing_policies.round_robin.v3.RoundRobin")}}
    override = typed("load_balancing_policies.override_host.v3.OverrideHost", override_host_sources=[{"metadata": key(DESTINATION)}],
                     selected_host_key=key(DESTINATION + "-served"), fallback_policy={"policies": [round_robin]})
    check = {"timeout": "0.5s", "interval": "0.2s", "no_traffic_interval": "0.2s", "unhealthy_threshold": 1, "healthy_threshold": 1,
             "grpc_health_check": {"service_name": "envoy.service.ext_proc.v3.ExternalProcessor"}}
    tls = {"name": "tls", "typed_config": typed("transport_sockets.tls.v3.UpstreamTlsContext", common_tls_context={"alpn_protocols": ["h2"]})}
    http2 = "http2_protocol_options"
    return {"admin": {"address": address(listeners["admin"])}, "static_resources": {
        "listeners": [listener(n, s, listeners[n]) for n, s in table.items()],
        "clusters": [
            cluster("pool", engines, "http_protocol_options",
                    load_balancing_policy={"policies": [{"typed_extension_config": {"name": "override_host", "typed_config": override}}]}),
            cluster("header", None, "http_protocol_options", type="ORIGINAL_DST", lb_policy="CLUSTER_PROVIDED",
                    original_dst_lb_config={"use_http_header": True, "http_header_name": DESTINATION}),
            cluster("picker", [picker], http2, transport_socket=tls),
            cluster("picker_clear", [clear], http2),
            *([cluster("picker_other", [other], http2)] if other else []),
            # Without the check a picker that is gone is noticed when its request has already been handed over.
            cluster("picker_checked", [picker], http2, transport_socket=tls, health_checks=[check], common_lb_config={"healthy_panic_threshold": {"value": 0}}),
        ]}}


def picker_command(root, port, http_port, endpoints, *flags):
    """Starts our picker, which chooses among these `ip:port`."""
    workers = [part for e in endpoints for part in ("--worker", f"http://{e}")]
    return [str(root / "warmpath"), "picker", "--http-host", "127.0.0.1", "--http-port", str(http_port), "--endpoint-picker-port", str(port), *workers, *flags]


def command(config, base_id):
    """Starts Envoy with this configuration, which is written to the file `config`."""
    binary = next(pathlib.Path(sys.prefix).glob("lib/python*/site-packages/envoy/_bin/envoy"))
    return [str(binary), "-c", str(config), "--concurrency", "1", "--base-id", str(base_id), "--log-level", "warning"]


def write(path, *arguments):
    path.write_text(json.dumps(configuration(*arguments), indent=1))
