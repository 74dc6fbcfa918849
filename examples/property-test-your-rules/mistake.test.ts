// Fails on purpose: `npm run mistake` shows how a mistake in a config is found and reported.
import { mistaken } from "./configs.ts";
import { testRules } from "./rules.ts";

testRules(mistaken);
