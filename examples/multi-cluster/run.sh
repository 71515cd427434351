#!/bin/sh
# Two hosts on this machine in one command: a manager with a queue in front, and a worker that has
# room. Submits a job to the manager, waits for its end, shows where it ran, and ends both hosts.
#
#   SLUICE=build/release/bin/sluice examples/multi-cluster/run.sh [FOLDER]
set -eu
sluice=${SLUICE:-build/release/bin/sluice}
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-$(mktemp -d)}
mkdir -p "$folder/keys"

start() {  # NAME: serves with its configuration until this script ends
  sed "s|FOLDER|$folder|g" "$here/$1.yaml" > "$folder/$1.yaml"
  "$sluice" serve --config "$folder/$1.yaml" > "$folder/$1.ready" 2> "$folder/$1.log" &
  pids="${pids:-} $!"
  until grep -q ready "$folder/$1.ready"; do
    kill -0 $! 2>/dev/null || { cat "$folder/$1.log" >&2; exit 1; }
    sleep 0.1
  done
}
trap 'kill $pids 2>/dev/null; wait' EXIT
start worker
cp "$folder/worker.kubeconfig" "$folder/keys/worker"
start manager

at() { name=$1; shift; kubectl --kubeconfig "$folder/$name.kubeconfig" "$@"; }
at worker apply -f "$here/queues.yaml"
at manager apply -f "$here/queues.yaml"
sed "s|FOLDER|$folder|g" "$here/clusters.yaml" | at manager apply -f -
at manager wait --for=condition=Active --timeout=120s multikueuecluster/worker
at manager wait --for=condition=Active --timeout=120s clusterqueue/team-a
at manager apply -f "$here/job.yaml"
at manager wait -n team-a --for=condition=Complete --timeout=120s job/train
at manager get -n team-a jobs
columns='WORKLOAD:.metadata.name,RAN AT:.status.clusterName'
columns="$columns,END:.status.conditions[?(@.type==\"Finished\")].message"
at manager get -n team-a workloads -o "custom-columns=$columns"
