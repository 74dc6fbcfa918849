// The plugin for `plugins` of earshot.json5: it adds the channel `pigeon`.
import { definePlugin } from "earshot";
import { pigeon } from "./pigeon.mjs";

export default definePlugin({ name: "pigeon", channels: [pigeon] });
