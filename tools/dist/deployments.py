"""Holds the files of Compose and Kubernetes in deploy/ against the program, the image and each other.

usage: deployments.py PROGRAM VERSION

VERSION is that of the image which the files must name. Ends with 1 and the reason where they do not fit.
"""

import os
import re
import subprocess
import sys
import tempfile
from ipaddress import ip_address, ip_network
from pathlib import Path

import yaml

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
CONTAINERFILE = (DEPLOY / "image" / "Containerfile").read_text()
PROGRAM, VERSION = sys.argv[1:]
IMAGE = f"localhost/sightline:{VERSION}"
PORT = int(re.search(r"^EXPOSE (\d+)$", CONTAINERFILE, re.MULTILINE)[1])
USER = int(re.search(r"^USER (\d+):", CONTAINERFILE, re.MULTILINE)[1])
DATA = re.search(r"^VOLUME (\S+)$", CONTAINERFILE, re.MULTILINE)[1]
# What a person fills in.
GIVEN = {
    "PUBLIC_HOST": "search.example.org",
    "POSTGRES_PASSWORD": "ab" * 24,
    "REDIS_PASSWORD": "cd" * 24,
    "SIGHTLINE_RATE_LIMIT__TRUSTED_PROXIES": "10.244.7.0/28",
    "SIGHTLINE_SECRETS__KEY": "ab" * 32,
    "SIGHTLINE_SEARCH_ENGINE__CLIENT_ID": "id",
    "SIGHTLINE_SEARCH_ENGINE__CLIENT_SECRET": "secret",
    "SIGHTLINE_MAIL__SMTP_URL": "smtps://mail.example.org",
    "SIGHTLINE_MAIL__FROM": "sightline@example.org",
}


class Differs(Exception):
    """A file does not fit. The text says how."""


def need(holds: bool, what: str) -> None:
    if not holds:
        raise Differs(what)


def accept(settings: dict[str, str]) -> None:
    """The program takes these settings: it then looks for a service at their address, where none is."""
    need(settings["SIGHTLINE_LISTEN"] == f"0.0.0.0:{PORT}", f"the image exposes {PORT}, and listen is {settings['SIGHTLINE_LISTEN']}")
    with tempfile.TemporaryDirectory() as folder:
        environment = {"PATH": os.environ["PATH"], **settings, "SIGHTLINE_LISTEN": "127.0.0.1:1"}
        ended = subprocess.run([PROGRAM, "health"], cwd=folder, env=environment, capture_output=True, text=True)
    need("no service answers at 127.0.0.1:1" in ended.stderr, ended.stderr.strip())


def filled(value: object) -> object:
    """A part of a Compose file with the variables that it names."""
    if isinstance(value, str):
        return re.sub(r"\$\{(\w+)(?::\?[^}]*)?\}", lambda name: GIVEN[name[1]], value)
    if isinstance(value, list):
        return [filled(one) for one in value]
    if isinstance(value, dict):
        return {key: GIVEN[key] if one is None and key in GIVEN else filled(one) for key, one in value.items()}
    return value


def host_and_port(settings: dict[str, str], name: str) -> tuple[str, int] | None:
    """Where a URL of the settings leads."""
    found = re.search(r"//(?:[^@/]*@)?([^:/]+)(?::(\d+))?", settings.get(name, ""))
    usual = {"SIGHTLINE_DATABASE__URL": 5432, "SIGHTLINE_REDIS__URL": 6379}
    return found and (found[1], int(found[2] or usual[name]))


def compose(file: Path) -> None:
    """One Compose file."""
    whole = filled(yaml.safe_load(file.read_text()))
    services = whole["services"]
    service = services["sightline"]
    settings = service["environment"]
    need(service["image"] == IMAGE, f"the image is {service['image']}, and {IMAGE} is built")
    need(service["read_only"] and service["cap_drop"] == ["ALL"], "the root can be written, or capabilities are kept")
    accept(settings)
    health = re.search(r"^HEALTHCHECK .*CMD \[(.*)\]$", CONTAINERFILE, re.MULTILINE)[1]
    need(service["healthcheck"]["test"] == ["CMD", *yaml.safe_load(f"[{health}]")], "the health check is not the image's")
    data = [place.split(":")[1] for place in service.get("volumes", [])] + [place.split(":")[0] for place in service.get("tmpfs", [])]
    need(data == [DATA], f"{DATA} is not the folder of the data")
    for volume in [place.split(":")[0] for one in services.values() for place in one.get("volumes", [])]:
        need(volume in whole["volumes"] or (file.parent / volume).is_file(), f"there is no volume {volume}")
    (network,) = whole["networks"]["default"]["ipam"]["config"]
    address = services["proxy"]["networks"]["default"]["ipv4_address"]
    need(settings["SIGHTLINE_RATE_LIMIT__TRUSTED_PROXIES"] == address, "another address than the proxy's is trusted")
    subnet, others = ip_network(network["subnet"]), ip_network(network["ip_range"])
    need(ip_address(address) in subnet and others.subnet_of(subnet), "the proxy or the others are in another network")
    need(ip_address(address) not in others and address != network["gateway"], "another container may get the proxy's address")
    apart(services, whole["networks"])
    proxy = (file.parent / "Caddyfile").read_text()
    need(re.search(rf"dynamic a {{\s+name sightline\s+port {PORT}\s", proxy), f"the proxy does not lead to sightline at {PORT}")
    need(settings["SIGHTLINE_BASE_URL"].split("//")[1] in services["proxy"]["networks"]["default"]["aliases"], "base_url leads elsewhere")
    for name in ("SIGHTLINE_DATABASE__URL", "SIGHTLINE_REDIS__URL"):
        if place := host_and_port(settings, name):
            need(place[0] in services and place[0] in service["depends_on"], f"{name} names no service of the file")


def apart(services: dict, networks: dict) -> None:
    """The proxy alone is published, and the service alone reaches what keeps data, by a password."""
    published = [name for name, one in services.items() if "ports" in one]
    need(published == ["proxy"], f"ports of {published} are published")
    for name in services.keys() - {"proxy", "sightline"}:
        need(services[name]["networks"] == ["data"] and networks["data"]["internal"], f"{name} is in a network of others")
    if redis := services.get("redis"):
        command = "\n".join(redis["command"])
        need("\nrequirepass $$REDIS_PASSWORD\n" in command, "Redis asks for another password, or for none")
        need(GIVEN["REDIS_PASSWORD"] not in command, "the password of Redis is an argument, which everybody on the machine can read")
        need(redis["environment"] == {"REDIS_PASSWORD": GIVEN["REDIS_PASSWORD"]}, "Redis has no password to ask for")
        need(f":{GIVEN['REDIS_PASSWORD']}@" in services["sightline"]["environment"]["SIGHTLINE_REDIS__URL"], "redis.url has no password")


def pod_ports(objects: list[dict]) -> dict[str, dict[str, int]]:
    """The named ports of pods, by the label of their application."""
    return {
        one["spec"]["template"]["metadata"]["labels"]["app"]: {
            port["name"]: port["containerPort"] for container in one["spec"]["template"]["spec"]["containers"] for port in container["ports"]
        }
        for one in objects
        if one["kind"] in ("Deployment", "StatefulSet")
    }


def kubernetes_pod(spec: dict, objects: list[dict]) -> dict[str, str]:
    """The pod of the service. Returns its settings."""
    (container,) = spec["containers"]
    need(container["image"] == IMAGE, f"the image is {container['image']}, and {IMAGE} is built")
    need(spec["securityContext"]["runAsUser"] == USER == spec["securityContext"]["fsGroup"], f"the image's user is {USER}")
    need(container["securityContext"]["readOnlyRootFilesystem"], "the root can be written")
    # Kubernetes would set SIGHTLINE_PORT and such, which are no settings.
    need(spec["enableServiceLinks"] is False, "variables of services would reach the program")
    need([place["mountPath"] for place in container["volumeMounts"]] == [DATA], f"{DATA} is not the folder of the data")
    maps = {one["metadata"]["name"]: one["data"] for one in objects if one["kind"] == "ConfigMap"}
    settings: dict[str, str] = {}
    for source in container["envFrom"]:
        # The head of the file says which maps a person makes.
        settings |= maps.get(source["configMapRef"]["name"], {}) if "configMapRef" in source else {}
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    need(ports["http"] == PORT and settings["SIGHTLINE_METRICS__LISTEN"].endswith(f":{ports['metrics']}"), f"the ports are {ports}")
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        need(container[probe]["httpGet"]["port"] == "http", f"{probe} asks another port")
    return settings


def policies(objects: list[dict], pods: dict[str, dict[str, int]], settings: dict[str, str]) -> None:
    """Each pod has a policy that lets in what needs it, at the ports that it has."""
    found = {one["spec"]["podSelector"]["matchLabels"]["app"]: one["spec"] for one in objects if one["kind"] == "NetworkPolicy"}
    need(found.keys() == pods.keys(), f"there are policies for {sorted(found)}, and pods {sorted(pods)}")
    for app, spec in found.items():
        need(spec["policyTypes"] == ["Ingress", "Egress"], f"{app}: one direction is open")
        need(all(rule.get("from") and rule.get("ports") for rule in spec["ingress"]), f"{app}: everybody is let in")
        ports = sorted(port["port"] for rule in spec["ingress"] for port in rule["ports"])
        need(ports == sorted(pods[app].values()), f"{app}: the policy opens {ports}")
        if app != "sightline":
            (rule,) = spec["ingress"]
            need(rule["from"] == [{"podSelector": {"matchLabels": {"app": "sightline"}}}], f"{app}: others than the service are let in")
            need(not spec.get("egress"), f"{app} reaches something")
    ways_out = [
        (peer["podSelector"]["matchLabels"]["app"], port["port"])
        for rule in found["sightline"]["egress"]
        for peer in rule.get("to", [])
        if "podSelector" in peer
        for port in rule["ports"]
    ]
    places = [host_and_port(settings, name) for name in ("SIGHTLINE_DATABASE__URL", "SIGHTLINE_REDIS__URL")]
    need(ways_out == [place for place in places if place], f"the policy of the service leads to {ways_out}")


def kubernetes(file: Path) -> None:
    """One file of Kubernetes."""
    text = file.read_text()
    objects = list(yaml.safe_load_all(text))
    (pod,) = [one["spec"]["template"]["spec"] for one in objects if one["kind"] == "Deployment" and one["metadata"]["name"] == "sightline"]
    settings = kubernetes_pod(pod, objects)
    # The head of the file says which secrets a person makes.
    secrets = dict(re.findall(r"--from-literal=(SIGHTLINE_\w+)=(\S+)", text))
    passwords = {"$PASSWORD": GIVEN["POSTGRES_PASSWORD"], "$REDIS_PASSWORD": GIVEN["REDIS_PASSWORD"]}
    known = re.compile(r"\$(?:REDIS_)?PASSWORD")
    given = {name: GIVEN.get(name, known.sub(lambda found: passwords[found[0]], value)) for name, value in secrets.items()}
    need("SIGHTLINE_RATE_LIMIT__TRUSTED_PROXIES" in given.keys() - settings.keys(), "the trusted proxies are not the operator's to name")
    accept(settings | given)
    pods = pod_ports(objects)
    policies(objects, pods, settings | given)
    served: dict[str, list[int]] = {}
    for one in objects:
        if one["kind"] == "Service":
            ports = pods[one["spec"]["selector"]["app"]]
            need(all(port["targetPort"] in ports for port in one["spec"]["ports"]), f"a port of {one['metadata']['name']} is no pod's")
            served[one["metadata"]["name"]] = [port["port"] for port in one["spec"]["ports"]]
        if one["kind"] == "Ingress":
            (rule,) = one["spec"]["rules"]
            hosts = one["spec"]["tls"][0]["hosts"]
            need(hosts == [rule["host"]] and settings["SIGHTLINE_BASE_URL"] == f"https://{rule['host']}", "base_url is not the ingress's")
            need(rule["http"]["paths"][0]["backend"]["service"]["name"] == "sightline", "the ingress leads elsewhere")
    for name in ("SIGHTLINE_DATABASE__URL", "SIGHTLINE_REDIS__URL"):
        if place := host_and_port(settings | given, name):
            need(place[1] in served.get(place[0], []), f"{name} names no service of the file")


def main() -> None:
    wrong = []
    checks = {"compose": compose, "kubernetes": kubernetes}
    files = [(check, file) for kind, check in checks.items() for file in sorted((DEPLOY / kind).glob("*.yaml"))]
    for check, file in files:
        try:
            check(file)
        except Differs as differs:
            wrong.append(f"{file}: {differs}")
    print(f"deploy: {len(files)} files were held against the program and the image, {len(wrong)} do not fit")
    sys.exit("\n".join(wrong) or len(files) != 4)


main()
