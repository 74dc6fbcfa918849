// Fails, and is meant to: `npm run mistake` shows how a mistake in a config is found and told.
import { mistaken } from "./configs.ts";
import { holdsTheHouseRules } from "./rules.ts";

holdsTheHouseRules(mistaken);
