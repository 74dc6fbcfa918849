/** A host entry that fails while it is loaded, as one with a missing dependency would. */
export const host = await Promise.reject(new Error("this host cannot be loaded"));
