/**
 * How a call of the contract stands on the wire. Both ends use it: the console's HostChannel and `tessera-host serve`.
 *
 * The JSON-RPC method is the contract's name. Its params are always a `Call`. A task's progress comes as `$/progress`
 * notifications (the shape vscode-jsonrpc gives them: `{ token, value }`) that carry the caller's token, since the
 * library does not tell a caller the id of its request. A failure is a ResponseError of `failureCode` whose `data`
 * is AppErrorData.
 */
export interface Call<Input> {
  readonly input: Input;
  /** Tasks only: the token that their `$/progress` notifications carry. */
  readonly progressToken?: number;
}

/** `error.code` of a failure whose `error.data` is AppErrorData. */
export const failureCode = -32_000;
