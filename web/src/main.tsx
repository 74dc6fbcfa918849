/** Entry of the pages: theme, token, frame. */
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/chat.css";
import "./styles/files.css";
import "./styles/ladder.css";
import { render } from "preact";
import { App } from "./app.tsx";
import { applyTheme } from "./lib/theme.ts";
import { takeToken } from "./lib/token.ts";

applyTheme();
const token = takeToken();
const page = document.getElementById("page");
if (page !== null) render(<App token={token} />, page);
