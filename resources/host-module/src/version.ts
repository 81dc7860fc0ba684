/** The version of this module; a test holds it to package.json, which is not read at run time to keep the start short. */
export const version = "0.1.0";
