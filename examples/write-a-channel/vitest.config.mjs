// Also inside the clone of earshot, whose own config would be found otherwise.
export default { test: { include: ["*.test.mjs"] } };
