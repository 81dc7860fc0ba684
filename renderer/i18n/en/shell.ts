/** The frame around every view: header, rail, board, topology. */
export const shell = {} as const;
