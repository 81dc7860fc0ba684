/** How one host is reached: what OpenSSH's configuration says about it, or what the caller gave instead. */
export interface SshSettings {
  /** As the operator wrote it. */
  readonly name: string;
  /** What is dialled. */
  readonly hostName: string;
  readonly port: number;
  readonly user: string;
  /** The name that known_hosts knows it by, instead of `hostName` and `port`. */
  readonly hostKeyAlias: string | null;
  readonly addressFamily: "any" | "inet" | "inet6";
  readonly bindAddress: string | null;
  readonly connectTimeoutMs: number;
  /** 0 sends no keepalive. */
  readonly keepaliveIntervalMs: number;
  /** The peer is given up after this many intervals without an answer. */
  readonly keepaliveCountMax: number;

  readonly identityFiles: readonly string[];
  readonly certificateFiles: readonly string[];
  readonly identitiesOnly: boolean;
  /** Socket of the agent; null where there is none or none is wanted. */
  readonly identityAgent: string | null;
  /** Private keys given as text, tried before all others. */
  readonly privateKeys: readonly string[];
  readonly methods: AuthenticationMethods;
  /** `publickey`, `keyboard-interactive`, ... in the order to try. */
  readonly preferredAuthentications: readonly string[];
  readonly passwordPrompts: number;
  /** Nobody is asked anything. */
  readonly batchMode: boolean;

  /** Hops, first one first: each `[user@]host[:port]` or an alias of its own. */
  readonly proxyJump: readonly string[];
  readonly proxyCommand: string | null;

  readonly strictHostKeyChecking: StrictHostKeyChecking;
  /** The first is the one that new keys are written to. */
  readonly userKnownHostsFiles: readonly string[];
  readonly globalKnownHostsFiles: readonly string[];
  readonly hashKnownHosts: boolean;
  /** The only algorithms to accept, by preference; null for ours. */
  readonly hostKeyAlgorithms: readonly string[] | null;
  /** `ssh-ed25519 AAAA...`: exactly this key and no other; known_hosts is not asked. */
  readonly expectedHostKey: string | null;
  /** What of the configuration could not be taken into account, for people. */
  readonly notes: readonly string[];
}

export type StrictHostKeyChecking = "yes" | "no" | "accept-new" | "ask";

export interface AuthenticationMethods {
  readonly publicKey: boolean;
  readonly password: boolean;
  readonly keyboardInteractive: boolean;
}

/** Settings given outright, for hosts that no configuration file speaks of. */
export interface DirectSettings {
  readonly name: string;
  readonly address: string;
  readonly port: number;
  readonly user: string;
  readonly privateKey: string;
  /** `ssh-ed25519 AAAA...` */
  readonly hostKey: string;
}

/** A dead peer is noticed within 45 s, and 64 idle hosts together cost less than 1 KB/s. */
export const defaultKeepaliveIntervalMs = 22_000;
export const defaultKeepaliveCountMax = 2;
const opensshKeepaliveCountMax = 3;
export const defaultConnectTimeoutMs = 30_000;
const preferredAuthentications = ["publickey", "keyboard-interactive", "password"];

export function settingsFromDirect(direct: DirectSettings): SshSettings {
  return {
    name: direct.name,
    hostName: direct.address,
    port: direct.port,
    user: direct.user,
    hostKeyAlias: null,
    addressFamily: "any",
    bindAddress: null,
    connectTimeoutMs: defaultConnectTimeoutMs,
    keepaliveIntervalMs: defaultKeepaliveIntervalMs,
    keepaliveCountMax: defaultKeepaliveCountMax,
    identityFiles: [],
    certificateFiles: [],
    identitiesOnly: true,
    identityAgent: null,
    privateKeys: [direct.privateKey],
    methods: { publicKey: true, password: false, keyboardInteractive: false },
    preferredAuthentications: ["publickey"],
    passwordPrompts: 0,
    batchMode: true,
    proxyJump: [],
    proxyCommand: null,
    strictHostKeyChecking: "yes",
    userKnownHostsFiles: [],
    globalKnownHostsFiles: [],
    hashKnownHosts: false,
    hostKeyAlgorithms: null,
    expectedHostKey: direct.hostKey,
    notes: [],
  };
}

/** Keyword (lower case) to its values in the order given, as `ssh -G` prints them. */
export type Keywords = ReadonlyMap<string, readonly string[]>;

export interface SettingsContext {
  readonly name: string;
  readonly home: string;
  readonly localUser: string;
  readonly localHostName: string;
  /** `SSH_AUTH_SOCK`. */
  readonly agentSocket: string | null;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Settings from the keywords of `ssh -G`, which fills in OpenSSH's defaults but leaves `~` and `%` tokens in paths. */
export function settingsFromKeywords(keywords: Keywords, context: SettingsContext): SshSettings {
  const first = (keyword: string) => keywords.get(keyword)?.[0] ?? null;
  const hostName = first("hostname") ?? context.name;
  const user = first("user") ?? context.localUser;
  const port = wholeNumber(first("port"), 22);
  const hostKeyAlias = first("hostkeyalias");
  const path = (value: string) =>
    expandPath(value, context, { hostName, user, port, hostKeyAlias: hostKeyAlias ?? context.name });
  const paths = (keyword: string) =>
    (keywords.get(keyword) ?? []).filter((value) => value.toLowerCase() !== "none").map(path);
  const words = (keyword: string) => (first(keyword) ?? "").split(/\s+/).filter((word) => word !== "");
  const keepaliveSeconds = wholeNumber(first("serveraliveinterval"), 0);
  const connectSeconds = wholeNumber(first("connecttimeout"), 0);
  const proxyJump = first("proxyjump");
  const proxyCommand = first("proxycommand");
  const hostKeyAlgorithms = first("hostkeyalgorithms");
  const preferred = first("preferredauthentications");
  return {
    name: context.name,
    hostName,
    port,
    user,
    hostKeyAlias,
    addressFamily: addressFamily(first("addressfamily")),
    bindAddress: noneAsNull(first("bindaddress")),
    connectTimeoutMs: connectSeconds > 0 ? connectSeconds * 1_000 : defaultConnectTimeoutMs,
    // `ssh -G` prints 0 both where nothing is said and where 0 is; a console's own setting says the latter.
    keepaliveIntervalMs: keepaliveSeconds > 0 ? keepaliveSeconds * 1_000 : defaultKeepaliveIntervalMs,
    // OpenSSH's default of 3 is printed as well, and belongs to an interval that somebody wrote.
    keepaliveCountMax:
      keepaliveSeconds > 0
        ? Math.max(1, wholeNumber(first("serveralivecountmax"), opensshKeepaliveCountMax))
        : defaultKeepaliveCountMax,
    identityFiles: [...new Set(paths("identityfile"))],
    certificateFiles: paths("certificatefile"),
    identitiesOnly: isYes(first("identitiesonly"), false),
    identityAgent: identityAgent(first("identityagent"), context, path),
    privateKeys: [],
    methods: {
      publicKey: pubkeyAllowed(first("pubkeyauthentication")),
      password: isYes(first("passwordauthentication"), true),
      keyboardInteractive: isYes(
        first("kbdinteractiveauthentication") ?? first("challengeresponseauthentication"),
        true,
      ),
    },
    preferredAuthentications: preferred === null ? preferredAuthentications : preferred.split(",").map((m) => m.trim()),
    passwordPrompts: wholeNumber(first("numberofpasswordprompts"), 3),
    batchMode: isYes(first("batchmode"), false),
    proxyJump:
      proxyJump === null || proxyJump.toLowerCase() === "none"
        ? []
        : proxyJump
            .split(",")
            .map((hop) => hop.trim())
            .filter((hop) => hop !== ""),
    proxyCommand: proxyCommand === null || proxyCommand.toLowerCase() === "none" ? null : proxyCommand,
    strictHostKeyChecking: strictness(first("stricthostkeychecking")),
    userKnownHostsFiles: keywords.has("userknownhostsfile")
      ? words("userknownhostsfile")
          .filter((word) => word.toLowerCase() !== "none")
          .map(path)
      : [path("~/.ssh/known_hosts"), path("~/.ssh/known_hosts2")],
    globalKnownHostsFiles: keywords.has("globalknownhostsfile")
      ? words("globalknownhostsfile")
          .filter((word) => word.toLowerCase() !== "none")
          .map(path)
      : ["/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"],
    hashKnownHosts: isYes(first("hashknownhosts"), false),
    hostKeyAlgorithms: hostKeyAlgorithms === null ? null : hostKeyAlgorithms.split(",").map((name) => name.trim()),
    expectedHostKey: null,
    notes: [],
  };
}

function wholeNumber(text: string | null, fallback: number): number {
  return text !== null && /^\d+$/.test(text) ? Number(text) : fallback;
}

/** `ssh -G` prints some flags as yes/no and others as true/false. */
function isYes(text: string | null, fallback: boolean): boolean {
  if (text === null) return fallback;
  return ["yes", "true"].includes(text.toLowerCase());
}

/** Besides yes and no there are `unbound` and `host-bound`, both of which allow it. */
function pubkeyAllowed(text: string | null): boolean {
  return text === null || !["no", "false"].includes(text.toLowerCase());
}

function strictness(text: string | null): StrictHostKeyChecking {
  switch (text?.toLowerCase()) {
    case "yes":
    case "true":
      return "yes";
    case "no":
    case "false":
    case "off":
      return "no";
    case "accept-new":
      return "accept-new";
    default:
      return "ask";
  }
}

function addressFamily(text: string | null): SshSettings["addressFamily"] {
  return text === "inet" || text === "inet6" ? text : "any";
}

function noneAsNull(text: string | null): string | null {
  return text === null || text.toLowerCase() === "none" || text === "" ? null : text;
}

function identityAgent(text: string | null, context: SettingsContext, path: (value: string) => string): string | null {
  if (text === null || text === "SSH_AUTH_SOCK") return context.agentSocket;
  if (text.toLowerCase() === "none" || text === "") return null;
  if (text.startsWith("$")) return context.environment[text.slice(1).replace(/^\{(.*)\}$/, "$1")] ?? null;
  return path(text);
}

export interface TokenValues {
  readonly hostName: string;
  readonly user: string;
  readonly port: number;
  readonly hostKeyAlias: string;
}

/** `~`, `${VARIABLE}` and the tokens of ssh_config(5) in a path. */
export function expandPath(value: string, context: SettingsContext, tokens: TokenValues): string {
  const unquoted = value.replace(/^"(.*)"$/, "$1");
  const home = unquoted === "~" || unquoted.startsWith("~/") ? context.home + unquoted.slice(1) : unquoted;
  return expandTokens(
    home.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (whole, name: string) => context.environment[name] ?? whole),
    context,
    tokens,
  );
}

/** The tokens `%h %n %p %r %u %d %l %L %k %i %%`; one that is not known stays as it is. */
export function expandTokens(text: string, context: SettingsContext, tokens: TokenValues): string {
  return text.replace(/%(.)/g, (whole, token: string) => {
    switch (token) {
      case "%":
        return "%";
      case "h":
        return tokens.hostName;
      case "n":
        return context.name;
      case "p":
        return String(tokens.port);
      case "r":
        return tokens.user;
      case "u":
        return context.localUser;
      case "d":
        return context.home;
      case "l":
        return context.localHostName;
      case "L":
        return context.localHostName.split(".")[0] ?? context.localHostName;
      case "k":
        return tokens.hostKeyAlias;
      case "i":
        return String(process.getuid?.() ?? 0);
      default:
        return whole;
    }
  });
}
