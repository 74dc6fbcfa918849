/** How long a message of WhatsApp may be, for both ways to it. */

/** https://developers.facebook.com/documentation/business-messaging/whatsapp/messages/text-messages */
export const whatsappTextLimit = 4_096;
