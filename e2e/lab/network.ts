/**
 * The lab's network: a bridge in a network namespace of its own, and one veth pair out of it, so that this machine
 * reaches the lab's hosts. Nothing of it outlives the process that holds the namespace: the kernel removes a veth
 * pair when the namespace of either end goes, also after a SIGKILL of the tests.
 */
import { execFileSync } from "node:child_process";

/** 198.18.0.0/15 is for benchmarks of networks (RFC 2544): routed nowhere, and rarely in use. */
const prefix = "198.19";
/** This machine's end of the uplink. */
const gateway = 254;
const attempts = 250;

export interface LabNetwork {
  /** `198.19.7`, of a /24. */
  readonly subnet: string;
  /** Name of this machine's end of the uplink. */
  readonly uplink: string;
  /** The namespace of that process gets eth0 with this address. */
  join(name: string, pid: number, address: string): void;
  /** The kernel would do the same, a moment after the namespace's last process. */
  close(): void;
}

/** `holder` is a process in the network namespace that becomes the switch. Throws where no link can be made. */
export function openNetwork(holder: number): LabNetwork {
  const { subnet, uplink } = claimSubnet(holder);
  inNamespace(holder, [
    "link add name lab type bridge forward_delay 0",
    "link set lab up",
    "link set uplink master lab",
    "link set uplink up",
  ]);
  ip([`address add ${subnet}.${gateway}/24 dev ${uplink}`, `link set ${uplink} up`]);
  return {
    subnet,
    uplink,
    join: (name, pid, address) => {
      // A host that died leaves its end for a moment: the kernel tidies namespaces up in the background.
      const port = `${name}-${pid}`;
      // The same after a reboot: its neighbours need not find out that another card answers now.
      const hardware = `02:00:${address
        .split(".")
        .map((byte) => Number(byte).toString(16).padStart(2, "0"))
        .join(":")}`;
      inNamespace(holder, [
        `link add name ${port} type veth peer name eth0 address ${hardware} netns ${pid}`,
        `link set ${port} master lab`,
        `link set ${port} up`,
      ]);
      inNamespace(pid, [
        "link set lo up",
        `address add ${address}/24 dev eth0`,
        "link set eth0 up",
        `route add default via ${subnet}.${gateway}`,
      ]);
    },
    close: () => ip([`link delete ${uplink}`]),
  };
}

/** A link's name is unique on a machine, so that making it claims the subnet for one of several labs. */
function claimSubnet(holder: number): { readonly subnet: string; readonly uplink: string } {
  const first = process.pid % attempts;
  for (let attempt = 0; attempt < attempts; attempt++) {
    const number = (first + attempt) % attempts;
    const uplink = `tesseralab${number}`;
    try {
      ip([`link add name ${uplink} type veth peer name uplink netns ${holder}`]);
      return { subnet: `${prefix}.${number}`, uplink };
    } catch (error) {
      if (!/File exists/.test(String(error))) throw error;
    }
  }
  throw new Error(`every subnet of ${prefix}.0.0/16 is taken by another lab`);
}

function inNamespace(pid: number, commands: readonly string[]): void {
  execFileSync("nsenter", ["--target", String(pid), "--net", "ip", "-batch", "-"], {
    input: `${commands.join("\n")}\n`,
  });
}

function ip(commands: readonly string[]): void {
  execFileSync("ip", ["-batch", "-"], { input: `${commands.join("\n")}\n`, stdio: ["pipe", "pipe", "pipe"] });
}
