/** Entry of the page that hands conversations to the Stately inspector. */
import "../styles/tokens.css";
import "../styles/base.css";
import "../styles/inspect.css";
import { applyTheme } from "../lib/theme.ts";
import { takeToken } from "../lib/token.ts";
import { startBridge } from "./bridge.ts";
import { createInspectorView } from "./status-text.ts";

applyTheme();
const token = takeToken();
const query = new URLSearchParams(location.search);
const key = query.get("key");
const words = query.get("words") === "1";
const face = createInspectorView({ key, words });
if (token === null) face.problem("noToken");
else void startBridge({ token, key, words, face });
