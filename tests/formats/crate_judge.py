#!/usr/bin/env python3
"""Is a folder a Workflow Run RO-Crate? What RO-Crate 1.1 and the profiles Process, Workflow and Provenance Run
Crate 0.5 say MUST hold, in words of our own, and what a reader of the run expects.

    crate_judge.py FOLDER [--has KEY=VALUE ...]

--has: files=3 inside=3 attempts=4 failed=1 value=sigma:2 description=text ... Prints what is wrong, a line each."""
import json, os, re, sys, urllib.parse

wrong = []


def say(bad, text):
    if bad:
        wrong.append(text)


def as_list(v):
    return [] if v is None else v if isinstance(v, list) else [v]


def ids(entity, key):
    out = []
    for v in as_list(entity.get(key)):
        say(not (isinstance(v, dict) and list(v) == ["@id"]), f"{entity['@id']}: {key} has {v}, no reference")
        out.append(v["@id"] if isinstance(v, dict) else "")
    return out


def types(entity):
    return as_list(entity.get("@type"))


def main():
    folder, wanted = sys.argv[1], dict(x.split("=", 1) for x in sys.argv[3:])
    with open(os.path.join(folder, "ro-crate-metadata.json"), encoding="utf-8") as f:
        crate = json.load(f)
    say("https://w3id.org/ro/crate/1.1/context" not in as_list(crate["@context"]), "the context is not RO-Crate 1.1's")
    say("https://w3id.org/ro/terms/workflow-run/context" not in as_list(crate["@context"]), "no context of workflow runs")
    graph = {}
    for e in crate["@graph"]:
        say(e["@id"] in graph, f"{e['@id']} is there twice")
        say(not types(e), f"{e['@id']} has no type")
        graph[e["@id"]] = e
    # flat: objects inside entities are references alone; those to the crate's own things must lead somewhere
    for e in crate["@graph"]:
        for key, value in e.items():
            for v in as_list(value):
                if isinstance(v, dict):
                    say(list(v) != ["@id"], f"{e['@id']}: {key} is nested")
                    say(v["@id"] not in graph and not v["@id"].startswith(("http://", "https://")), f"{e['@id']}: {key} refers to {v['@id']}, which is not there")
                    say(re.search(r"[\s<>\"{}|\\^`]", v["@id"]), f"{v['@id']} is no address")

    about = graph["ro-crate-metadata.json"]
    say("CreativeWork" not in types(about) or ids(about, "about") != ["./"], "the description does not describe ./")
    say("https://w3id.org/ro/crate/1.1" not in ids(about, "conformsTo"), "conforms to no RO-Crate")
    root = graph["./"]
    for key in ("name", "description", "datePublished", "license"):
        say(not root.get(key), f"./ has no {key}")
    for profile in ("process", "workflow", "provenance"):
        name = f"https://w3id.org/ro/wfrun/{profile}/0.5"
        say(name not in ids(root, "conformsTo"), f"./ does not conform to {profile}")
        say("CreativeWork" not in types(graph.get(name, {})), f"{name} is not described")
    parts = ids(root, "hasPart")

    # files: in the crate they exist and are what is said of them
    files = [e for e in crate["@graph"] if set(types(e)) & {"File", "Dataset"} and e["@id"] != "./"]
    inside = 0
    for e in files:
        say(e["@id"] not in parts, f"{e['@id']} is no part of the crate")
        if "://" in e["@id"]:
            continue
        path = os.path.join(folder, urllib.parse.unquote(e["@id"]))
        say(not os.path.exists(path), f"{e['@id']} is not in the folder")
        say(("Dataset" in types(e)) != os.path.isdir(path) or e["@id"].endswith("/") != os.path.isdir(path), f"{e['@id']}: file or folder?")
        if "File" in types(e) and "contentSize" in e:
            say(int(e["contentSize"]) != os.path.getsize(path), f"{e['@id']}: another size")
        inside += "identifier" in e
    for base, _, names in os.walk(os.path.join(folder, "files")):
        for name in names:
            rel = urllib.parse.quote(os.path.relpath(os.path.join(base, name), folder), safe="/-._~")
            say(not any(p == rel or (p.endswith("/") and rel.startswith(p)) for p in parts), f"{rel} is in the folder and not described")

    # the workflow and its run
    main_entity = ids(root, "mainEntity")
    say(len(main_entity) != 1, "no main entity")
    flow = graph[main_entity[0]]
    say(not {"File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"} <= set(types(flow)), f"the workflow is {types(flow)}")
    say(not flow.get("name") or "ComputerLanguage" not in types(graph[ids(flow, "programmingLanguage")[0]]), "the workflow has no name or language")
    for key in ("input", "output"):
        for i in ids(flow, key):
            say("FormalParameter" not in types(graph[i]) or not graph[i].get("additionalType"), f"{i} is no formal parameter")
    runs = [e for e in crate["@graph"] if "CreateAction" in types(e) and ids(e, "instrument") == main_entity]
    say(len(runs) != 1 or [runs[0]["@id"]] != ids(root, "mentions"), "not one run of the workflow, mentioned by ./")
    attempts = [e for e in crate["@graph"] if "CreateAction" in types(e) and e not in runs]
    tools = ids(flow, "hasPart")
    status = {"http://schema.org/CompletedActionStatus", "http://schema.org/FailedActionStatus", "http://schema.org/ActiveActionStatus"}
    moment = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$")
    for e in runs + attempts:
        say(len(ids(e, "instrument")) != 1, f"{e['@id']} has no instrument")
        say(e in attempts and ids(e, "instrument")[0] not in tools, f"{e['@id']}: its tool is no part of the workflow")
        say(not set(ids(e, "actionStatus")) <= status, f"{e['@id']}: no such status")
        say(("http://schema.org/FailedActionStatus" in ids(e, "actionStatus")) != ("error" in e), f"{e['@id']}: an error, or none?")
        for key in ("startTime", "endTime"):
            say(key in e and not moment.match(e[key]), f"{e['@id']}: {key} {e.get(key)}")
        say(e.get("endTime", "z") < e["startTime"], f"{e['@id']} ends before it starts")
        for i in ids(e, "object") + ids(e, "result"):
            say(not set(types(graph[i])) & {"File", "Dataset", "PropertyValue"}, f"{e['@id']}: {i} is no data")
    steps = ids(flow, "step")
    for i in steps:
        say("HowToStep" not in types(graph[i]) or ids(graph[i], "workExample")[0] not in tools, f"{i} is no step with a tool")
    controls = [e for e in crate["@graph"] if "ControlAction" in types(e)]
    told = []
    for e in controls:
        say(ids(e, "instrument")[0] not in steps, f"{e['@id']}: no step")
        told += ids(e, "object")
    say(sorted(told) != sorted(e["@id"] for e in attempts), "attempts and steps do not match")
    organize = [e for e in crate["@graph"] if "OrganizeAction" in types(e)]
    say(len(organize) != 1 or ids(organize[0], "result") != [runs[0]["@id"]], "no engine")
    say(sorted(ids(organize[0], "object")) != sorted(e["@id"] for e in controls), "the engine did other steps")

    # what a file was made by: no more than one attempt that ended well, and it is a result of the run
    makers = [i for e in attempts for i in ids(e, "result")]
    say(len(makers) != len(set(makers)), "a file has two makers")
    say(not set(makers) <= set(ids(runs[0], "result")), "an attempt's result is none of the run's")

    values = {graph[i]["name"]: graph[i]["value"] for i in ids(runs[0], "object") if "PropertyValue" in types(graph[i])}
    for i in ids(runs[0], "object"):
        if "PropertyValue" in types(graph[i]):
            say(ids(graph[i], "exampleOfWork")[0] not in ids(flow, "input"), f"{i}: a value of nothing")
    stated = {graph[i]["name"]: graph[i]["value"] for i in ids(runs[0], "result") if "PropertyValue" in types(graph[i])}
    found = {"files": len(files) - 1, "inside": inside, "attempts": len(attempts), "steps": len(steps), "controls": len(controls),
             "failed": sum("error" in e for e in attempts), "keywords": root.get("keywords", ""), "comment": "|".join(as_list(root.get("comment"))),
             "values": ",".join(f"{k}:{v}" for k, v in sorted(values.items())), "stated": ",".join(f"{k}:{v}" for k, v in sorted(stated.items())),
             "status": ids(runs[0], "actionStatus")[0].rsplit("/", 1)[1], "commands": "|".join(e.get("description", "") for e in attempts)}
    for key, value in wanted.items():
        say(str(found[key]) != value, f"{key} is {found[key]}, not {value}")
    for text in wrong:
        print(text)
    print(found)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
