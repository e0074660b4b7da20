"""A writer of a Mooncake pool for tests: real objects through the real store client.

    pool_writer.py MASTER_HOST:PORT SEGMENT_BYTES

Reads one JSON object a line: {"put": [KEY, ...], "bytes": N}, {"remove": [KEY, ...]}; answers each with a line
"@@ N", the number of keys done. Ends with its input. Its memory is the pool: what it wrote is gone when it ends.
"""

import json
import sys

from mooncake.store import MooncakeDistributedStore


def main():
    master, segment = sys.argv[1], int(sys.argv[2])
    store = MooncakeDistributedStore()
    failed = store.setup("127.0.0.1", "P2PHANDSHAKE", segment, 16 << 20, "tcp", "", master)
    if failed:
        sys.exit(f"the store client does not start: {failed}")
    print("@@ ready", flush=True)
    for line in sys.stdin:
        told = json.loads(line)
        if "put" in told:
            value = b"x" * told["bytes"]
            done = sum(store.put(key, value) == 0 for key in told["put"])
        else:
            done = sum(store.remove(key) == 0 for key in told["remove"])
        print(f"@@ {done}", flush=True)
    store.close()


main()
