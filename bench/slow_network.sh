#!/bin/bash
# Two ranks in network namespaces, with latency and a limited bandwidth between them, over TCP (Open MPI; root):
#
#     bench/slow_network.sh DELAY_MS MBYTES_PER_S deno run -A bench/rank_rates.ts …
#
# tc netem delays where the kernel has it; elsewhere bench/slow_link.py does.
set -e
delay=$1 rate=$2; shift 2
here=$(dirname "$0"); agent=$(mktemp)
clean() {
  [ -z "$link" ] || kill $link
  for i in 1 2; do ip link del facet$i; ip netns del facet$i; done
  rm -f $agent
}
trap clean EXIT
for i in 1 2; do
  ip netns add facet$i
  ip link add facet$i type veth peer name eth0 netns facet$i
  ip netns exec facet$i ip addr add 10.77.0.$i/24 dev eth0
  for part in "netns exec facet$i ip link set lo up" "netns exec facet$i ip link set eth0 mtu 9000 up" \
    "link set facet$i mtu 9000 up"; do ip $part; done
  ip netns exec facet$i ethtool -K eth0 tx off gso off tso off >/dev/null
done
python3 $here/slow_link.py facet1 facet2 $delay $rate & link=$!
# mpirun starts the other rank with this instead of ssh
printf '#!/bin/sh\nshift\nexec ip netns exec facet2 unshare --uts sh -c "hostname facet2; $*"\n' > $agent
chmod +x $agent
ip netns exec facet1 mpirun --allow-run-as-root -n 2 --host 10.77.0.1,10.77.0.2 --map-by node --mca plm_rsh_agent $agent \
  --mca btl tcp,self --mca pml ob1 --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0 -x PATH "$@"
