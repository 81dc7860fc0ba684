/**
 * Raised whenever a message changes its meaning; both sides refuse another number. Apart from the contract, whose
 * schemas the host module does not load before the first request that needs them.
 */
export const protocolVersion = 1;
