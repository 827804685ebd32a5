grep -q '^greeting: ' phrases.txt && grep -q '^parting: ' phrases.txt
